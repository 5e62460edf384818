import { readSeed } from "@inspo/engine/Wire"
import { Duration, Effect, Option, Result, Schema } from "effect"
import { type Headers, HttpRouter, HttpServerResponse } from "effect/http"
import * as Protobuf from "../../Protobuf.ts"
import * as Wire from "../../Wire.ts"
import { decoder, readForwardBackward, readJson } from "./Bodies.ts"
import type { Outcome } from "./Outcomes.ts"
import { brief, type Refusal, refuse } from "./Refusal.ts"
import { reply, type Routing } from "./Routing.ts"
import type { TinkerServer } from "./Service.ts"

/** All routes of the protocol. */
export const add = Effect.fnUntraced(function* (routing: Routing, server: TinkerServer.Interface) {
  yield* addServer(routing, server)
  yield* addSessions(routing, server)
  yield* addModels(routing, server)
  yield* addGradients(routing, server)
  yield* addSamplers(routing, server)
  yield* addResults(routing, server)
  yield* addListings(routing, server)
  yield* addUnsupported(routing)
})

/** What the protocol has and this server does not, with what to use in its place; and any other path. */
const addUnsupported = Effect.fnUntraced(function* ({ post, route }: Routing) {
  yield* post("/save_weights_external", Schema.Unknown, () =>
    unsupported("save_weights_external", "save_weights or save_weights_for_sampler, which save on this server")
  )
  const checkpoint = "/training_runs/:model/checkpoints/:kind/:name" as const
  for (const method of ["POST", "DELETE"] as const)
    yield* route(method, `${checkpoint}/publish`, () =>
      unsupported("publish", "the checkpoint under its own path: every client of this server can load it")
    )
  for (const method of ["GET", "POST", "DELETE"] as const)
    yield* route(method, "/*", ({ method, originalUrl }) =>
      Effect.fail(
        refuse(
          `${method} ${brief(originalUrl.replace(/^https?:\/\/[^/]*/u, ""))} is not a route of this server; expected a route of the Tinker protocol, as the tinker SDK requests them`,
          404
        )
      )
    )
})

const unsupported = (route: string, instead: string): Effect.Effect<never, Refusal> =>
  Effect.fail(refuse(`${route} is not supported by this server; use ${instead}`))

const addServer = Effect.fnUntraced(function* ({ get, post }: Routing, server: TinkerServer.Interface) {
  yield* get("/healthz", () => Effect.succeed({ status: "ok" }))
  yield* get("/get_server_capabilities", () => Effect.succeed(server.capabilities))
  yield* post("/client/config", Wire.ClientConfigRequest, () => Effect.succeed(clientConfig(server)))
  yield* post("/client/dynamic_config", Wire.ClientConfigRequest, () => Effect.succeed(dynamicConfig))
  yield* post("/telemetry", Schema.Unknown, () => Effect.succeed({ status: "accepted" }))
})

const addSessions = Effect.fnUntraced(function* ({ get, post }: Routing, server: TinkerServer.Interface) {
  yield* get("/sessions", () => Effect.sync(() => ({ sessions: server.sessionIds() })))
  yield* get("/sessions/:id", () => Effect.flatMap(parameter("id"), server.sessionInfo))
  yield* post("/sessions/:id/finish", Wire.FinishSessionRequest, () =>
    Effect.as(Effect.flatMap(parameter("id"), server.finishSession), {})
  )
  yield* post("/create_session", Wire.CreateSessionRequest, () => server.createSession)
  yield* post("/session_heartbeat", Wire.HeartbeatRequest, server.heartbeat)
})

const addModels = Effect.fnUntraced(function* ({ future, post, route }: Routing, server: TinkerServer.Interface) {
  yield* future("/create_model", Wire.CreateModelRequest, server.createModel)
  yield* future("/unload_model", Wire.ModelRequest, server.unloadModel)
  yield* post("/get_info", Wire.ModelRequest, server.info)
  yield* post("/weights_info", Wire.WeightsInfoRequest, server.weightsInfo)
  yield* future("/save_weights", Wire.SaveWeightsRequest, server.saveWeights)
  yield* future("/load_weights", Wire.LoadWeightsRequest, server.loadWeights)
  yield* future("/save_weights_for_sampler", Wire.SaveWeightsForSamplerRequest, server.saveForSampler)
  yield* route("DELETE", "/training_runs/:model/checkpoints/:kind/:name", () =>
    Effect.gen(function* () {
      yield* server.removeCheckpoint(yield* parameter("model"), yield* parameter("kind"), yield* parameter("name"))
      return HttpServerResponse.empty()
    })
  )
})

const addGradients = Effect.fnUntraced(function* ({ future, route }: Routing, server: TinkerServer.Interface) {
  yield* future("/forward", Wire.ForwardRequest, server.forward)
  yield* future("/optim_step", Wire.OptimStepRequest, server.optimStep)
  yield* route("POST", "/forward_backward", (request) =>
    Effect.gen(function* () {
      const { body, digest, forwardOnly } = yield* readForwardBackward(request, server)
      const request_id = yield* forwardOnly
        ? server.forward(
            { model_id: body.model_id, seq_id: body.seq_id ?? null, forward_input: body.forward_backward_input },
            digest
          )
        : server.forwardBackward(body, digest)
      return reply({ request_id, model_id: body.model_id })
    })
  )
})

const addSamplers = Effect.fnUntraced(function* ({ get, post, receive }: Routing, server: TinkerServer.Interface) {
  const longPoll = Duration.fromInputUnsafe(server.longPoll)
  yield* post("/create_sampling_session", Wire.CreateSamplingSessionRequest, server.createSamplingSession)
  yield* get("/samplers/:id", () => Effect.flatMap(parameter("id"), server.sampler))
  yield* receive("/asample", Wire.SampleRequest, (body, { digest, headers }) =>
    Effect.gen(function* () {
      const seed = yield* Effect.fromResult(Result.mapError(readSeed(headers), (reason) => refuse(reason)))
      const future = yield* server.asample(body, seed, digest)
      const wait = Duration.min(Wire.preferredWait(headers), longPoll)
      if (Duration.isZero(wait) || !takesProtobuf(headers)) return reply(future)
      // Whatever is no sample is retrieved.
      const outcome = yield* Effect.option(Effect.flatMap(server.retrieve(future.request_id, wait), Effect.fromOption))
      return Option.isSome(outcome) ? encode(outcome.value, true) : reply(future)
    })
  )
})

const addResults = Effect.fnUntraced(function* ({ post, route }: Routing, server: TinkerServer.Interface) {
  yield* post("/cancel_future", Wire.CancelFutureRequest, (body) => Effect.as(server.cancelFuture(body), {}))
  yield* route("POST", "/retrieve_future", (request) =>
    Effect.gen(function* () {
      const { value } = yield* readJson(request, server.bodyBytes)
      const { request_id } = yield* decodeRetrieve(value)
      return yield* Effect.match(server.retrieve(request_id, server.longPoll), {
        onSuccess: Option.match({
          onNone: () => reply({ type: "try_again", request_id, queue_state: "active" }),
          onSome: (outcome) => encode(outcome, takesProtobuf(request.headers))
        }),
        onFailure: ({ detail, status }) =>
          status === 404 || status === 410
            ? reply({ detail }, status)
            : reply({ error: detail, category: status < 500 ? "user" : "server" })
      })
    })
  )
})

const addListings = Effect.fnUntraced(function* ({ get }: Routing, server: TinkerServer.Interface) {
  yield* get("/checkpoints", server.listings.checkpoints)
  yield* get("/training_runs", server.listings.trainingRuns)
  yield* get("/training_runs/:model", () => Effect.flatMap(parameter("model"), server.listings.trainingRun))
  yield* get("/training_runs/:model/checkpoints", () =>
    Effect.flatMap(parameter("model"), server.listings.checkpointsOf)
  )
})

const decodeRetrieve = decoder(Wire.RetrieveFutureRequest)

/** Chunks may be large here: the gradient of a step is that of all its datums at once, however they arrive. */
const clientConfig = ({ bodyBytes, mostDatums }: TinkerServer.Interface) =>
  ({
    pjwt_auth_enabled: false,
    credential_default_source: "api_key",
    proto_write_fwdbwd: true,
    proto_compress_fwdbwd: false,
    parallel_fwdbwd_chunks: true,
    fwdbwd_max_chunk_len: mostDatums,
    // Clients estimate what they send.
    fwdbwd_max_chunk_bytes_count: Math.floor(bodyBytes / 2),
    sample_max_concurrent_requests: 2000
  }) satisfies Wire.ClientConfig & Record<string, unknown>

const dynamicConfig = { refresh_interval_sec: 300, sample_cancel_enabled: true }

/** A part of the path. */
const parameter = (name: string) => Effect.map(HttpRouter.params, (params) => params[name] ?? "")

const takesProtobuf = (headers: Headers.Headers) => (headers["accept"] ?? "").includes(Protobuf.contentType)

const encode = (outcome: Outcome, asProtobuf: boolean) => {
  if (!asProtobuf || outcome._tag === "Json") return reply(outcome.value)
  const bytes =
    outcome._tag === "Samples"
      ? Protobuf.encodeSampleResponse(outcome.value)
      : Protobuf.encodeForwardBackwardOutput(outcome.value)
  return HttpServerResponse.uint8Array(bytes, { contentType: Protobuf.contentType })
}
