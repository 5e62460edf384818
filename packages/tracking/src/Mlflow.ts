import * as RegularFile from "@inspo/domain/RegularFile"
import { Array as Arr, Clock, Effect, FileSystem, Layer, Path, Ref, Schema, Option, type Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { type Naming, nameOf, news, type Point } from "./Point.ts"
import { type Interface, type Outcome, type Run, Tracker, TrackerError } from "./Tracker.ts"
import { Address, PatientClient } from "@inspo/http/client"

/** Where MLflow is; a name and password in the address are sent as basic authentication. */
interface Server {
  readonly url: string
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: Redacted.Redacted
}

interface Answer {
  readonly status: number
  readonly text: string
}

/** Calls one path of MLflow's REST API 2.0, such as `runs/create`; only a server that stays away fails it. */
type Call = (
  method: "GET" | "POST",
  path: string,
  body: Readonly<Record<string, unknown>>
) => Effect.Effect<Answer, TrackerError>

const connect = Effect.fnUntraced(function* (
  server: Server
): Effect.fn.Return<Call, TrackerError, HttpClient.HttpClient> {
  const { request, shown } = yield* addressOf(server)
  const ask = PatientClient.make(yield* HttpClient.HttpClient, {
    server: shown,
    answerWithin: "10 seconds",
    retryBudget: "1 minute",
    retries: 3
  })
  return (method, path, body) =>
    ask(
      HttpClientRequest.setMethod(HttpClientRequest.appendUrl(request, path), method).pipe(
        method === "GET" ? HttpClientRequest.setUrlParams(textValues(body)) : HttpClientRequest.bodyJsonUnsafe(body)
      )
    ).pipe(
      Effect.map((text) => ({ status: 200, text })),
      Effect.catch(({ body: text, reason, status }) =>
        status === null
          ? Effect.fail(refusal(`${shown} did not answer (${reason}); check that it runs and can be reached`))
          : Effect.succeed({ status, text })
      )
    )
})

/** The body of an answer with status 200. */
const expect = <A, I>(schema: Schema.Codec<A, I>) => {
  const decode = Schema.decodeEffect(Schema.fromJsonString(schema))
  return ({ status, text }: Answer): Effect.Effect<A, TrackerError> =>
    status === 200
      ? Effect.mapError(decode(text), () =>
          refusal("an answer is not what MLflow's REST API 2.0 says; check the address")
        )
      : Effect.fail(
          refusal(
            status === 401 || status === 403
              ? `the server answered with status ${status}; set MLFLOW_TRACKING_TOKEN, or a name and password in the address`
              : `the server answered with status ${status}: ${text.slice(0, shownLength)}`
          )
        )
}

const refusal = (reason: string): TrackerError => new TrackerError({ tracker: "MLflow", reason })

const addressOf = ({ token, url }: Server): Effect.Effect<Address.Address, TrackerError> =>
  Option.match(Address.parse(url, token), {
    onNone: () =>
      Effect.fail(refusal("the address is not a URL of a tracking server; expected one such as http://127.0.0.1:5000")),
    onSome: ({ request, shown }) =>
      Effect.succeed({ shown, request: HttpClientRequest.appendUrl(request, "/api/2.0/mlflow/") })
  })

const textValues = (body: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(body).map(([key, value]) => [key, String(value)]))

const shownLength = 200

export interface Options extends Server {
  /** Name of the experiment, made when it is missing. */
  readonly experiment: string
  /** File that remembers the id of the run, so that a resume continues in it. */
  readonly file: string
  readonly naming: Naming
}

/**
 * Sends metrics and settings to an MLflow tracking server over its REST API 2.0 (`experiments/get-by-name` and `create`,
 * `runs/create`, `log-batch` and `update`). A session that resumes a run continues in the same run of MLflow.
 *
 * @example
 * ```ts
 * import * as NodeServices from "@effect/platform-node/NodeServices"
 * import { layer } from "@inspo/tracking/Mlflow"
 * import { Layer } from "effect"
 * import { FetchHttpClient } from "effect/http"
 *
 * const tracker = layer({
 *   url: "http://127.0.0.1:5000",
 *   experiment: "inspo",
 *   file: "runs/mine/mlflow-run",
 *   naming: "inspo"
 * }).pipe(Layer.provide([FetchHttpClient.layer, NodeServices.layer]))
 * ```
 */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<Interface, TrackerError, FileSystem.FileSystem | Path.Path | HttpClient.HttpClient> {
  const { experiment, file, naming } = options
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const call = yield* connect(options)
  const runId = yield* Ref.make("")
  const fresh = news()

  const experimentId = Effect.gen(function* () {
    const found = yield* call("GET", "experiments/get-by-name", { experiment_name: experiment })
    if (found.status !== 404) return (yield* foundExperiment(found)).experiment.experiment_id
    return (yield* createdExperiment(yield* call("POST", "experiments/create", { name: experiment }))).experiment_id
  })
  const logBatch = (batch: Readonly<Record<string, unknown>>) =>
    Effect.gen(function* () {
      yield* done(yield* call("POST", "runs/log-batch", { run_id: yield* Ref.get(runId), ...batch }))
    })
  const logPoints = Effect.fnUntraced(function* (points: ReadonlyArray<Point>) {
    const timestamp = yield* Clock.currentTimeMillis
    const metrics = points
      .map(fresh)
      .flatMap(({ samples, step }) =>
        samples.map((sample) => ({ key: allowed(nameOf(sample, naming)), value: sample.value, timestamp, step }))
      )
    yield* Effect.forEach(Arr.chunksOf(metrics, mostMetrics), (part) => logBatch({ metrics: part }), { discard: true })
  })

  const create = Effect.fnUntraced(function* (run: Run, past: ReadonlyArray<Point>) {
    const created = yield* createdRun(
      yield* call("POST", "runs/create", {
        experiment_id: yield* experimentId,
        run_name: run.name,
        start_time: yield* Clock.currentTimeMillis,
        tags: [
          { key: "mlflow.runName", value: run.name },
          { key: "mlflow.source.name", value: "inspo" }
        ]
      })
    )
    yield* Ref.set(runId, created.run.info.run_id)
    const params = Object.entries(run.settings).map(([name, value]) => ({
      key: allowed(name),
      value: value.length <= longestParameter ? value : `${value.slice(0, longestParameter - 1)}…`
    }))
    yield* Effect.forEach(Arr.chunksOf(params, mostParameters), (part) => logBatch({ params: part }), { discard: true })
    yield* logPoints(past)
    // Last, so that a session that was cut off here starts over.
    yield* fs.makeDirectory(path.dirname(file), { recursive: true })
    yield* fs.writeFileString(file, `${created.run.info.run_id}\n`)
  })
  const begin = Effect.fnUntraced(
    function* (run: Run, past: ReadonlyArray<Point>) {
      const known = (yield* fs.exists(file))
        ? yield* Effect.tryPromise({
            try: async () => (await RegularFile.readText(file, longestId)).trim(),
            catch: (cause) =>
              refusal(`${file} cannot be read (${cause instanceof Error ? cause.message : String(cause)})`)
          })
        : ""
      if (known === "") return yield* create(run, past)
      yield* done(yield* call("POST", "runs/update", { run_id: known, status: "RUNNING" }))
      yield* Ref.set(runId, known)
    },
    Effect.catchTag("PlatformError", ({ reason }) =>
      Effect.fail(refusal(`${file} cannot be read or written (${reason._tag}); check its folder`))
    )
  )
  const end = Effect.fnUntraced(function* (outcome: Outcome) {
    const end_time = yield* Clock.currentTimeMillis
    const run_id = yield* Ref.get(runId)
    yield* done(yield* call("POST", "runs/update", { run_id, status: statuses[outcome], end_time }))
  })
  return { begin, log: (point) => logPoints([point]), end }
})

/** The tracker of {@link make}. */
export const layer = (
  options: Options
): Layer.Layer<Tracker, TrackerError, FileSystem.FileSystem | Path.Path | HttpClient.HttpClient> =>
  Layer.effect(Tracker, make(options))

/** What one request may hold. */
const mostMetrics = 1000
const mostParameters = 100
const longestParameter = 6000
/** Bytes; an id has 32. */
const longestId = 1024

const statuses = { finished: "FINISHED", failed: "FAILED", stopped: "KILLED" } as const

/** MLflow takes letters, digits, and `_ - . / ` and spaces in names. */
const allowed = (name: string): string => name.replaceAll(/[^\w\-. /]/gu, "_")

const foundExperiment = expect(Schema.Struct({ experiment: Schema.Struct({ experiment_id: Schema.String }) }))
const createdExperiment = expect(Schema.Struct({ experiment_id: Schema.String }))
const createdRun = expect(Schema.Struct({ run: Schema.Struct({ info: Schema.Struct({ run_id: Schema.String }) }) }))
const done = expect(Schema.Unknown)
