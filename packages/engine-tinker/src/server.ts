import { hash, timingSafeEqual } from "node:crypto"
import { promisify } from "node:util"
import { zstdDecompress } from "node:zlib"
import type { Engine, EngineError } from "@inspo/engine"
import { Context, type Duration, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { Headers, HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Catalog } from "./Catalog.ts"
import type { Outcome } from "./internal/server/Futures.ts"
import { type Refusal, refuse } from "./internal/server/Refusal.ts"
import * as Service from "./internal/server/Service.ts"
import * as Protobuf from "./Protobuf.ts"
import * as Wire from "./Wire.ts"

/** The Tinker protocol over an engine. */
export class TinkerServer extends Context.Service<TinkerServer, TinkerServer.Interface>()(
  "@inspo/engine-tinker/TinkerServer"
) {}

export declare namespace TinkerServer {
  export interface Interface extends Effect.Success<ReturnType<typeof Service.make>> {
    readonly apiKey: Redacted.Redacted | null
    readonly longPoll: Duration.Input
  }
}

export interface TinkerServerOptions {
  /** The base model that clients ask for. */
  readonly model: string
  /** Where saved checkpoints are known by; see `Catalog`. */
  readonly catalog: Catalog
  /** Required in the header `X-API-Key`; none is when absent. */
  readonly apiKey?: Redacted.Redacted | undefined
  /** How long a request for a result waits for it; 20 seconds when absent. */
  readonly longPoll?: Duration.Input | undefined
  /** How long a request of a model waits for one of a lower sequence number; 5 seconds when absent. */
  readonly gapPatience?: Duration.Input | undefined
  /** How long a session lives without a heartbeat or another request, and its models with it; 5 minutes when absent. */
  readonly sessionPatience?: Duration.Input | undefined
  /** Results kept for clients that ask again; 20,000 when absent. */
  readonly retained?: number | undefined
}

/**
 * Serves an engine to any number of clients and models. Models that take turns swap their weights through the engine's
 * checkpoints; one alone costs nothing. What clients saved outlives the server if the catalog does; live models do not.
 *
 * `lora_config` is accepted, and all parameters are trained. The optimizer's state always comes with weights that are
 * loaded, and its epsilon is the engine's own. Ephemeral sampler weights last until their model is trained.
 * Log-probabilities of targets before the first one that counts are reported as 0.
 */
export const layer = (options: TinkerServerOptions): Layer.Layer<TinkerServer, EngineError, Engine> =>
  Layer.effect(
    TinkerServer,
    Effect.map(
      Service.make({
        model: options.model,
        catalog: options.catalog,
        gapPatience: options.gapPatience ?? "5 seconds",
        retained: options.retained ?? 20_000,
        sessionPatience: options.sessionPatience ?? "5 minutes"
      }),
      (service) => ({ ...service, apiKey: options.apiKey ?? null, longPoll: options.longPoll ?? "20 seconds" })
    )
  )

/** The routes of the protocol, under `/api/v1`, which every router can take in. */
export const routes: Layer.Layer<never, never, HttpRouter.HttpRouter | TinkerServer> = HttpRouter.use(
  Effect.fnUntraced(function* (all) {
    const server = yield* TinkerServer
    const router = all.prefixed("/api/v1")

    const route = (
      method: "GET" | "POST" | "DELETE",
      path: `/${string}`,
      handle: (
        request: HttpServerRequest.HttpServerRequest
      ) => Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal, HttpRouter.RouteContext>
    ) =>
      router.add(method, path, (request) =>
        authorize(server.apiKey, request).pipe(
          Effect.andThen(handle(request)),
          Effect.catchTag("Refusal", ({ detail, status }) => Effect.succeed(reply({ detail }, status)))
        )
      )

    /** A request that is answered at once. */
    const post = <S extends Schema.ConstraintDecoder<unknown>>(
      path: `/${string}`,
      schema: S,
      handle: (body: S["Type"], received: Received) => Effect.Effect<object, Refusal>
    ) => {
      const decode = decoder(schema)
      return route("POST", path, (request) =>
        Effect.flatMap(readJson(request), ({ digest, value }) =>
          decode(value).pipe(
            Effect.flatMap((body) => handle(body, { digest, headers: request.headers })),
            Effect.map((body) => reply(body))
          )
        )
      )
    }

    /** A request whose result is retrieved later. */
    const future = <S extends Schema.ConstraintDecoder<unknown>>(
      path: `/${string}`,
      schema: S,
      handle: (body: S["Type"], received: Received) => Effect.Effect<string, Refusal>
    ) =>
      post(path, schema, (body, received) =>
        Effect.map(handle(body, received), (request_id) => ({
          request_id,
          ...(isOfModel(body) ? { model_id: body.model_id } : {})
        }))
      )

    yield* route("GET", "/healthz", () => Effect.succeed(reply({ status: "ok" })))
    yield* route("GET", "/get_server_capabilities", () => Effect.succeed(reply(server.capabilities)))
    yield* post("/client/config", Wire.ClientConfigRequest, () => Effect.succeed(clientConfig))
    yield* post("/client/dynamic_config", Wire.ClientConfigRequest, () => Effect.succeed({ refresh_interval_sec: 300 }))
    yield* post("/telemetry", Schema.Unknown, () => Effect.succeed({ status: "accepted" }))
    yield* post("/create_session", Wire.CreateSessionRequest, () => server.createSession)
    yield* post("/session_heartbeat", Wire.HeartbeatRequest, server.heartbeat)
    yield* future("/create_model", Wire.CreateModelRequest, (body, { digest }) => server.createModel(body, digest))
    yield* future("/unload_model", Wire.ModelRequest, server.unloadModel)
    yield* post("/get_info", Wire.ModelRequest, server.info)
    yield* post("/weights_info", Wire.WeightsInfoRequest, server.weightsInfo)
    yield* future("/forward", Wire.ForwardRequest, (body, { digest }) => server.forward(body, digest))
    yield* future("/optim_step", Wire.OptimStepRequest, (body, { digest }) => server.optimStep(body, digest))
    yield* future("/save_weights", Wire.SaveWeightsRequest, (body, { digest }) => server.saveWeights(body, digest))
    yield* future("/load_weights", Wire.LoadWeightsRequest, (body, { digest }) => server.loadWeights(body, digest))
    yield* future("/save_weights_for_sampler", Wire.SaveWeightsForSamplerRequest, (body, { digest }) =>
      server.saveForSampler(body, digest)
    )
    yield* post("/create_sampling_session", Wire.CreateSamplingSessionRequest, server.createSamplingSession)
    yield* future("/asample", Wire.SampleRequest, (body, { digest, headers }) =>
      Effect.flatMap(seedOf(headers), (seed) => server.asample(body, seed, digest))
    )

    yield* route("POST", "/forward_backward", (request) =>
      Effect.gen(function* () {
        const { body, digest, forwardOnly } = yield* readForwardBackward(request)
        const request_id = yield* forwardOnly
          ? server.forward(
              {
                model_id: body.model_id,
                seq_id: body.seq_id ?? null,
                forward_input: body.forward_backward_input
              },
              digest
            )
          : server.forwardBackward(body, digest)
        return reply({ request_id, model_id: body.model_id })
      })
    )

    yield* route("POST", "/retrieve_future", (request) =>
      Effect.gen(function* () {
        const { request_id } = yield* Effect.flatMap(readJson(request), ({ value }) => decodeRetrieve(value))
        const takesProtobuf = (request.headers["accept"] ?? "").includes(Protobuf.contentType)
        return yield* Effect.match(server.retrieve(request_id, server.longPoll), {
          onSuccess: Option.match({
            onNone: () => reply({ type: "try_again", request_id, queue_state: "active" }),
            onSome: (outcome) => encode(outcome, takesProtobuf)
          }),
          onFailure: ({ detail, status }) =>
            status === 404 || status === 410
              ? reply({ detail }, status)
              : reply({ error: detail, category: status < 500 ? "user" : "server" })
        })
      })
    )

    yield* route("GET", "/samplers/:id", () =>
      Effect.gen(function* () {
        const { id = "" } = yield* HttpRouter.params
        return reply(yield* server.sampler(decodeURIComponent(id)))
      })
    )

    yield* route("DELETE", "/training_runs/:model/checkpoints/:kind/:name", () =>
      Effect.gen(function* () {
        const { kind = "", model = "", name = "" } = yield* HttpRouter.params
        yield* server.removeCheckpoint(decodeURIComponent(model), kind, decodeURIComponent(name))
        return HttpServerResponse.empty()
      })
    )
  })
)

/** One chunk may be large here: the gradient of a step is that of all its datums at once, however they arrive. */
const clientConfig = {
  pjwt_auth_enabled: false,
  credential_default_source: "api_key",
  proto_write_fwdbwd: true,
  proto_compress_fwdbwd: false,
  parallel_fwdbwd_chunks: true,
  fwdbwd_max_chunk_len: 65_536,
  fwdbwd_max_chunk_bytes_count: 256_000_000,
  sample_max_concurrent_requests: 2000
} satisfies Wire.ClientConfig & Record<string, unknown>

const reply = (body: object, status = 200) => HttpServerResponse.jsonUnsafe(body, { status })

const encode = (outcome: Outcome, takesProtobuf: boolean) => {
  if (!takesProtobuf || outcome._tag === "Json") return reply(outcome.value)
  const bytes =
    outcome._tag === "Samples"
      ? Protobuf.encodeSampleResponse(outcome.value)
      : Protobuf.encodeForwardBackwardOutput(outcome.value)
  return HttpServerResponse.uint8Array(bytes, { contentType: Protobuf.contentType })
}

const authorize = (
  apiKey: Redacted.Redacted | null,
  { headers }: HttpServerRequest.HttpServerRequest
): Effect.Effect<void, Refusal> => {
  if (apiKey === null) return Effect.void
  const expected = Buffer.from(Redacted.value(apiKey))
  const given = Buffer.from(headers["x-api-key"] ?? "")
  return expected.length === given.length && timingSafeEqual(expected, given)
    ? Effect.void
    : Effect.fail(refuse("the header X-API-Key does not hold this server's key", 401))
}

/** What of a request is not in its body; `digest` is that of the body as it came. */
interface Received {
  readonly digest: string
  readonly headers: Headers.Headers
}

const digestOf = (body: string | Uint8Array): string => hash("sha256", body, "base64")

const readJson = (
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<{ readonly value: unknown; readonly digest: string }, Refusal> =>
  Effect.mapError(
    Effect.flatMap(request.text, (text) =>
      Effect.try((): { readonly value: unknown; readonly digest: string } => ({
        value: JSON.parse(text),
        digest: digestOf(text)
      }))
    ),
    () => refuse("the body is not JSON", 422)
  )

/** Keys that a schema does not know are dropped. */
const decoder = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (body: unknown): Effect.Effect<S["Type"], Refusal> =>
    Result.match(decode(body), {
      onSuccess: (value) => Effect.succeed(value),
      onFailure: ({ message }) => Effect.fail(refuse(message.replaceAll(/\s+/gu, " "), 422))
    })
}

const decodeRetrieve = decoder(Wire.RetrieveFutureRequest)
const decodeForwardBackward = decoder(Wire.ForwardBackwardRequest)

const readForwardBackward = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  const isProtobuf = (request.headers["content-type"] ?? "").startsWith(Protobuf.contentType)
  if (!isProtobuf) {
    const { digest, value } = yield* readJson(request)
    return { body: yield* decodeForwardBackward(value), digest, forwardOnly: false }
  }
  const unreadable = (reason: string) => refuse(`the body cannot be read: ${reason}`, 422)
  const received = yield* Effect.mapError(request.arrayBuffer, ({ message }) => unreadable(message))
  const bytes =
    request.headers["content-encoding"] === "zstd"
      ? yield* Effect.tryPromise({
          try: () => decompress(new Uint8Array(received)),
          catch: () => unreadable("not zstd")
        })
      : new Uint8Array(received)
  const message = yield* Effect.mapError(Effect.fromResult(Protobuf.decodeForwardBackward(bytes)), ({ reason }) =>
    unreadable(reason)
  )
  const body = yield* decodeForwardBackward({
    model_id: message.modelId,
    seq_id: message.seqId,
    forward_backward_input: message.input
  })
  return { body, digest: digestOf(bytes), forwardOnly: message.forwardOnly }
})

const decompress = promisify(zstdDecompress)

const seedOf = (headers: Headers.Headers): Effect.Effect<Option.Option<string>, Refusal> =>
  Option.match(Headers.get(headers, Wire.seedHeader), {
    onNone: () => Effect.succeedNone,
    onSome: (text) =>
      Effect.try({
        try: () => Option.some(decodeURIComponent(text)),
        catch: () => refuse(`the header ${Wire.seedHeader} is not percent-encoded`)
      })
  })

const isOfModel = Schema.is(Schema.Struct({ model_id: Schema.String }))
