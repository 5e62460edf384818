import { Engine, type EngineError, SharedCalls } from "@inspo/engine"
import { factsOf } from "@inspo/engine/Wire"
import { Context, type Duration, Effect, type Redacted } from "effect"
import type * as Wire from "../../Wire.ts"
import type { Catalog } from "../../Catalog.ts"
import * as Checkpoints from "./Checkpoints.ts"
import * as ModelEndpoints from "./endpoints/ModelEndpoints.ts"
import * as SamplingEndpoints from "./endpoints/SamplingEndpoints.ts"
import * as SessionEndpoints from "./endpoints/SessionEndpoints.ts"
import * as TrainingEndpoints from "./endpoints/TrainingEndpoints.ts"
import * as WeightEndpoints from "./endpoints/WeightEndpoints.ts"
import type { Parts } from "./endpoints/Parts.ts"
import * as Futures from "./Futures.ts"
import type { Limits } from "./Limits.ts"
import * as Listings from "./Listings.ts"
import * as Models from "./Models.ts"
import * as LoadedWeights from "./LoadedWeights.ts"
import { type Refusal, refuse } from "./Refusal.ts"
import * as Samplers from "./Samplers.ts"
import type { Source } from "./Samplers.ts"
import * as Sessions from "./Sessions.ts"
import * as Submissions from "./Submissions.ts"

interface ServiceOptions {
  /** The name clients ask for. */
  readonly model: string
  readonly catalog: Catalog
  /** What clients load their tokenizer from. */
  readonly tokenizer: string
  readonly limits: Limits
  /** How long a request waits for one of a lower number that has not come. */
  readonly gapPatience: Duration.Input
  /** Settled futures kept for clients that ask again. */
  readonly retained: number
  /** How long a session lives that nothing is heard of, and a request without one that nobody asks for. */
  readonly sessionTimeout: Duration.Input
}

/** What the endpoints do, without HTTP. */
export const make = Effect.fnUntraced(function* (options: ServiceOptions) {
  const engine = yield* Engine
  const loaded = yield* LoadedWeights.make(engine)
  const { catalog, limits, model, tokenizer } = options
  const sampleOne = yield* SharedCalls.make({
    most: Math.max(limits.samples, 2 * engine.profile.concurrency),
    sample: ({ check, weights }: Source, requests) =>
      loaded.using(weights, Effect.andThen(check, engine.sample(requests))),
    unanswered: (): Refusal | EngineError => refuse("the engine left the request unanswered", 500)
  })
  const futures = Futures.make({
    nonce: yield* Sessions.word,
    retained: { outcomes: options.retained, numbers: retainedNumbers },
    open: limits.openRequests
  })
  const sessions = Sessions.make(limits.sessions)
  const samplers = Samplers.make()
  const checkpoints = Checkpoints.make(catalog, engine, loaded)
  const models = yield* Models.make({
    futures,
    loaded,
    samplers,
    sessions,
    most: limits.models,
    gapPatience: options.gapPatience
  })
  const submissions = Submissions.make(futures, models, yield* Effect.scope)
  const { sessionTimeout } = options
  const parts: Parts = {
    checkpoints,
    engine,
    futures,
    limits,
    loaded,
    model,
    models,
    sampleOne,
    samplers,
    sessions,
    sessionTimeout,
    submissions,
    tokenizer
  }

  return {
    bodyBytes: limits.bodyBytes,
    elements: 64 * limits.datums,
    mostDatums: limits.datums,
    capabilities: capabilities(model, engine.profile),
    retrieve: futures.retrieve,
    skip: models.skip,
    cancelFuture: ({ request_id }: typeof Wire.CancelFutureRequest.Type) => futures.cancel(request_id),
    ...(yield* SessionEndpoints.make(parts)),
    ...ModelEndpoints.make(parts),
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

/** Some 128 MB. */
const retainedNumbers = 16e6

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
