import { Engine, type EngineError, SharedCalls } from "@inspo/engine"
import { type Duration, Effect } from "effect"
import type { Catalog } from "../../../Catalog.ts"
import * as Checkpoints from "../Checkpoints.ts"
import * as Futures from "../Futures.ts"
import type { Limits } from "../Limits.ts"
import * as LoadedWeights from "../LoadedWeights.ts"
import * as Models from "../Models.ts"
import { brief, type Refusal, refuse } from "../Refusal.ts"
import * as Samplers from "../Samplers.ts"
import * as Sessions from "../Sessions.ts"
import * as Submissions from "../Submissions.ts"

export type Parts = Effect.Success<ReturnType<typeof make>>

export interface Options {
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

/** What the endpoints are made of. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const engine = yield* Engine
  const loaded = yield* LoadedWeights.make(engine)
  const { catalog, limits } = options
  const sampleOne = yield* SharedCalls.make({
    most: Math.max(limits.samples, 2 * engine.profile.concurrency),
    sample: ({ check, weights }: Samplers.Source, requests) =>
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
  return { ...options, checkpoints, engine, futures, loaded, models, sampleOne, samplers, sessions, submissions }
})

/** Some 128 MB. */
const retainedNumbers = 16e6

/** Refuses a base model other than `served`. */
export const baseModel = (served: string, wanted: string): Effect.Effect<void, Refusal> =>
  wanted === served
    ? Effect.void
    : Effect.fail(refuse(`base_model is ${brief(wanted)}, expected ${served}, the only one of this server`))

/** All parameters are trained, whatever the rank: it is kept for clients that ask for the same again. */
export const lora = (rank: number | null): object =>
  rank === null
    ? { is_lora: false }
    : { is_lora: true, lora_rank: rank, train_unembed: true, train_mlp: true, train_attn: true }
