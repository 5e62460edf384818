import type { Engine } from "@inspo/engine"
import { factsOf } from "@inspo/engine/Wire"
import { Context, Duration, Effect, type Redacted, Clock, Schedule } from "effect"
import type * as Wire from "../../Wire.ts"
import * as SamplingEndpoints from "./endpoints/SamplingEndpoints.ts"
import * as TrainingEndpoints from "./endpoints/TrainingEndpoints.ts"
import * as WeightEndpoints from "./endpoints/WeightEndpoints.ts"
import { baseModel, lora, make as makeParts, type Options, type Parts } from "./endpoints/Parts.ts"
import * as Listings from "./Listings.ts"
import { json } from "./Outcomes.ts"

/** What the endpoints do, without HTTP. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const parts = yield* makeParts(options)
  const { checkpoints, engine, futures, limits, model, models } = parts
  return {
    bodyBytes: limits.bodyBytes,
    elements: 64 * limits.datums,
    mostDatums: limits.datums,
    capabilities: capabilities(model, engine.profile),
    retrieve: futures.retrieve,
    skip: models.skip,
    cancelFuture: ({ request_id }: typeof Wire.CancelFutureRequest.Type) => futures.cancel(request_id),
    ...(yield* sessionEndpoints(parts)),
    ...modelEndpoints(parts),
    ...TrainingEndpoints.make(parts),
    ...WeightEndpoints.make(parts),
    ...SamplingEndpoints.make(parts),
    listings: Listings.make({ model, models: models.all, entries: checkpoints.all })
  }
})

const capabilities = (model: string, profile: Engine.Interface["profile"]): Wire.Capabilities => ({
  supported_models: [
    {
      model_name: model,
      max_context_length: profile.contextLength,
      trainable: true,
      sampleable: true,
      inspo: factsOf(profile)
    }
  ]
})

/** The Tinker protocol over an engine. */
export class TinkerServer extends Context.Service<TinkerServer, TinkerServer.Interface>()(
  "@inspo/engine-tinker/TinkerServer"
) {}

export declare namespace TinkerServer {
  export interface Interface extends Effect.Success<ReturnType<typeof make>> {
    readonly apiKey: Redacted.Redacted | null
    readonly longPoll: Duration.Input
  }
}

/** How sessions begin and end. Those that are silent, and checkpoints whose time is over, end by themselves. */
const sessionEndpoints = Effect.fnUntraced(function* (options: Parts) {
  const { futures, models, samplers, sessions } = options

  const end = Effect.fnUntraced(function* (id: string) {
    sessions.forget(id)
    samplers.forgetOfSession(id)
    yield* futures.end(id)
    yield* models.freeOfSession(id)
  })

  yield* Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const since = now - Duration.toMillis(options.sessionTimeout)
    for (const [id, last] of sessions.lastHeard) if (last <= since) yield* end(id)
    yield* futures.abandon(since)
    yield* options.checkpoints.expire(now)
  }).pipe(Effect.repeat(Schedule.spaced("10 seconds")), Effect.forkScoped)

  return {
    createSession: Effect.map(sessions.open, (session_id) => ({ type: "create_session", session_id })),
    heartbeat: ({ session_id }: typeof Wire.HeartbeatRequest.Type) =>
      Effect.as(sessions.asked(session_id), { type: "session_heartbeat" }),
    finishSession: (id: string) => Effect.andThen(sessions.asked(id), end(id)),
    sessionInfo: (id: string) =>
      Effect.map(sessions.check(id), () => ({
        training_run_ids: models.idsOf(id),
        sampler_ids: samplers.idsOf(id)
      })),
    sessionIds: () => Array.from(sessions.lastHeard.keys())
  }
})

/** How models begin and end, and what is reported of them. */
const modelEndpoints = (options: Parts) => {
  const { engine, futures, model, models, sessions, submissions } = options
  return {
    createModel: Effect.fnUntraced(function* (request: typeof Wire.CreateModelRequest.Type, digest: string) {
      yield* sessions.asked(request.session_id)
      yield* baseModel(model, request.base_model)
      const id = `${request.session_id}:train:${request.model_seq_id}`
      yield* models.checkRoom(id)
      return yield* futures.submit({
        slot: id,
        digest,
        once: true,
        owner: request.session_id,
        work: Effect.map(
          models.add(id, {
            session: request.session_id,
            loraRank: request.lora_config?.rank ?? null,
            metadata: request.user_metadata ?? null
          }),
          ({ loraRank }) => json({ model_id: id, base_model: model, ...lora(loraRank) })
        ),
        begin: (run) => run
      })
    }),

    unloadModel: Effect.fnUntraced(function* (request: typeof Wire.ModelRequest.Type) {
      const owner = yield* models.asked(request.model_id)
      return yield* submissions.atOnce({
        slot: null,
        digest: "",
        once: false,
        owner: owner.session,
        work: Effect.as(models.free(owner), json({ model_id: owner.id }))
      })
    }),

    info: ({ model_id }: typeof Wire.ModelRequest.Type) =>
      Effect.map(models.asked(model_id), ({ loraRank }) => ({
        type: "get_info",
        model_id,
        model_data: { arch: engine.profile.model, model_name: model, tokenizer_id: options.tokenizer },
        ...lora(loraRank),
        model_name: model
      }))
  }
}
