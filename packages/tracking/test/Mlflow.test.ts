import { createServer } from "node:http"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Point } from "@inspo/tracking"
import * as Mlflow from "@inspo/tracking/Mlflow"
import { Effect, FileSystem, Redacted, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { Points } from "./support/Points.ts"

const Batch = Schema.Struct({
  run_id: Schema.String,
  metrics: Schema.optionalKey(
    Schema.Array(Schema.Struct({ key: Schema.String, value: Schema.Finite, timestamp: Schema.Int, step: Schema.Int }))
  ),
  params: Schema.optionalKey(Schema.Array(Schema.Struct({ key: Schema.String, value: Schema.String })))
})
const CreateRun = Schema.Struct({ experiment_id: Schema.String, run_name: Schema.String, start_time: Schema.Int })
const UpdateRun = Schema.Struct({
  run_id: Schema.String,
  status: Schema.String,
  end_time: Schema.optionalKey(Schema.Int)
})

/** A server of the part of MLflow's REST API 2.0 that trackers use, with its limits; everything in memory. */
const mlflow = Effect.acquireRelease(
  Effect.callback<{
    readonly url: string
    readonly experiments: Map<string, string>
    readonly runs: Map<
      string,
      { name: string; status: string; metrics: Array<readonly [string, number, number]>; params: Map<string, string> }
    >
    readonly headers: Array<string | undefined>
    readonly close: () => void
  }>((resume) => {
    const experiments = new Map<string, string>()
    const runs = new Map<
      string,
      { name: string; status: string; metrics: Array<readonly [string, number, number]>; params: Map<string, string> }
    >()
    const headers: Array<string | undefined> = []
    const decode = <A, I>(schema: Schema.Codec<A, I>, body: string) =>
      Schema.decodeSync(Schema.fromJsonString(schema))(body)
    const answer = (path: string, query: URLSearchParams, body: string): [number, unknown] => {
      switch (path) {
        case "experiments/get-by-name": {
          const id = experiments.get(query.get("experiment_name") ?? "")
          return id === undefined
            ? [404, { error_code: "RESOURCE_DOES_NOT_EXIST" }]
            : [200, { experiment: { experiment_id: id, name: "" } }]
        }
        case "experiments/create": {
          const { name } = decode(Schema.Struct({ name: Schema.String }), body)
          experiments.set(name, `${experiments.size + 1}`)
          return [200, { experiment_id: experiments.get(name) }]
        }
        case "runs/create": {
          const { run_name } = decode(CreateRun, body)
          const id = `run${runs.size}`
          runs.set(id, { name: run_name, status: "RUNNING", metrics: [], params: new Map() })
          return [200, { run: { info: { run_id: id, status: "RUNNING" }, data: {} } }]
        }
        case "runs/log-batch": {
          const { metrics = [], params = [], run_id } = decode(Batch, body)
          const run = runs.get(run_id)
          if (run === undefined) return [404, { error_code: "RESOURCE_DOES_NOT_EXIST" }]
          if (metrics.length > 1000 || params.length > 100) return [400, { error_code: "INVALID_PARAMETER_VALUE" }]
          for (const { key, step, value } of metrics) {
            if (!/^[\w\-. /]+$/u.test(key)) return [400, { message: `Invalid metric name: ${key}` }]
            run.metrics.push([key, value, step])
          }
          for (const { key, value } of params) run.params.set(key, value)
          return [200, {}]
        }
        case "runs/update": {
          const { run_id, status } = decode(UpdateRun, body)
          const run = runs.get(run_id)
          if (run === undefined) return [404, { error_code: "RESOURCE_DOES_NOT_EXIST" }]
          run.status = status
          return [200, { run_info: { run_id, status } }]
        }
        default:
          return [404, { error_code: "ENDPOINT_NOT_FOUND" }]
      }
    }
    const server = createServer((request, response) => {
      headers.push(request.headers.authorization)
      const url = new URL(request.url ?? "/", "http://localhost")
      let body = ""
      request.on("data", (chunk: Buffer) => (body += chunk.toString()))
      request.on("end", () => {
        const [status, document] = answer(url.pathname.replace("/api/2.0/mlflow/", ""), url.searchParams, body)
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(document))
      })
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(
        Effect.succeed({ url: `http://127.0.0.1:${port}`, experiments, runs, headers, close: () => server.close() })
      )
    })
  }),
  ({ close }) => Effect.sync(close)
)

const options = (url: string, file: string): Mlflow.Options => ({ url, experiment: "inspo", file, naming: "verl" })
const settings = Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`setting.${index}`, "x".repeat(600)]))

const provided = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(Effect.scoped, Effect.provide([NodeServices.layer, FetchHttpClient.layer]))

describe("Mlflow", () => {
  it.effect.prop(
    "has every metric on the server, in one run over two sessions",
    [Points, Points],
    ([first, second]) =>
      provided(
        Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          const server = yield* mlflow
          const file = `${yield* fs.makeTempDirectoryScoped()}/tracking/mlflow-run`
          for (const [points, outcome, status] of [
            [first, "stopped", "KILLED"],
            [second, "finished", "FINISHED"]
          ] as const) {
            const tracker = yield* Mlflow.make(options(server.url, file))
            yield* tracker.begin({ name: "mine", settings }, points === second ? first : [])
            for (const point of points) yield* tracker.log(point)
            yield* tracker.end(outcome)
            assert.strictEqual(server.runs.get("run0")?.status, status)
          }
          assert.deepStrictEqual([...server.experiments], [["inspo", "1"]])
          assert.strictEqual(server.runs.size, 1)
          assert.deepStrictEqual(
            server.runs.get("run0")?.metrics,
            [...first, ...second].flatMap(({ samples, step }) =>
              samples.map(
                (sample) => [Point.nameOf(sample, "verl").replaceAll(/[^\w\-. /]/gu, "_"), sample.value, step] as const
              )
            )
          )
          assert.strictEqual(server.runs.get("run0")?.params.size, 250)
        })
      ),
    { arbitrary: { runs: 10 } }
  )

  it.effect("sends more than one request may hold, past metrics included", () =>
    provided(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const server = yield* mlflow
        const tracker = yield* Mlflow.make(options(server.url, `${yield* fs.makeTempDirectoryScoped()}/run`))
        const past = Array.from({ length: 2500 }, (_, step): Point.Point => ({
          step,
          samples: [{ name: "loss", label: null, value: step }]
        }))
        yield* tracker.begin({ name: "mine", settings: {} }, past)
        assert.strictEqual(server.runs.get("run0")?.metrics.length, 2500)
      })
    )
  )

  it.effect("brings the key that the server asks for, and never shows it", () =>
    provided(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const server = yield* mlflow
        const file = `${yield* fs.makeTempDirectoryScoped()}/run`
        const token = Redacted.make("s3cret")
        const tracker = yield* Mlflow.make({ ...options(server.url, file), token })
        yield* tracker.begin({ name: "mine", settings: {} }, [])
        assert.include(server.headers, "Bearer s3cret")
        server.runs.clear()
        const gone = yield* Effect.flip(tracker.end("finished"))
        assert.include(gone.message, "404")
        const address = server.url.replace("http://", "http://me:s3cret@")
        const named = yield* Mlflow.make(options(address, file))
        const refused = yield* Effect.flip(named.begin({ name: "mine", settings: {} }, []))
        assert.strictEqual(server.headers.at(-1), `Basic ${btoa("me:s3cret")}`)
        const unusable = yield* Effect.flip(Mlflow.make(options("me:s3cret@host", file)))
        for (const { message } of [gone, refused, unusable]) assert.notInclude(message, "s3cret")
      })
    )
  )
})
