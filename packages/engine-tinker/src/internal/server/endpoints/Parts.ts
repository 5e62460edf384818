import { Engine, type EngineError, SharedCalls } from "@inspo/engine"
import { type Duration, Effect, type Redacted, type Scope } from "effect"
import type { Catalog } from "../../../Catalog.ts"
import * as Checkpoints from "../Checkpoints.ts"
import * as Futures from "../Futures.ts"
import type { Limits } from "../Limits.ts"
import * as LoadedWeights from "../LoadedWeights.ts"
import * as Models from "../Models.ts"
import { brief, type Refusal, refuse, answered } from "../Refusal.ts"
import * as Samplers from "../Samplers.ts"
import * as Sessions from "../Sessions.ts"
import type { Outcome } from "../Outcomes.ts"

export type Parts = Effect.Success<ReturnType<typeof make>>

export interface TinkerServerOptions {
  /** The base model that clients ask for. */
  readonly model: string
  /** Where saved checkpoints are known by; see `Catalog`. */
  readonly catalog: Catalog
  /** What clients load their tokenizer from, such as a folder; the model's name when absent. */
  readonly tokenizer?: string | undefined
  /** How much clients may ask for, where it is not as in {@link limits}. */
  readonly limits?: Partial<Limits> | undefined
  /** Required in the header `X-API-Key`; none is when absent. */
  readonly apiKey?: Redacted.Redacted | undefined
  /** How long a request for a result waits for it; 20 seconds when absent. */
  readonly longPoll?: Duration.Input | undefined
  /** How long a request of a model waits for one of a lower sequence number; 5 seconds when absent. */
  readonly gapPatience?: Duration.Input | undefined
  /**
   * How long a session lives without a heartbeat or another request, and its models and requests with it; a request without a
   * session lives as long unless somebody asks for its result. 5 minutes when absent.
   */
  readonly sessionTimeout?: Duration.Input | undefined
  /** Results kept for clients that ask again; 20,000 when absent. */
  readonly retained?: number | undefined
}

/** The options that endpoints need, none left out. */
export type Options = {
  readonly [Name in Exclude<keyof TinkerServerOptions, "apiKey" | "limits" | "longPoll">]-?: NonNullable<
    TinkerServerOptions[Name]
  >
} & { readonly limits: Limits }

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
  const submissions = makeSubmissions(futures, models, yield* Effect.scope)
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

/** A request of a model; `seq_id` says which of them it is. */
interface Sequenced {
  readonly model_id: string
  readonly seq_id?: number | null
}

/** How requests whose result is retrieved later are begun; each returns the id of its future. */
const makeSubmissions = (futures: Futures.Futures, models: Models.Models, scope: Scope.Scope) => ({
  /** A request of a model, carried out in the order of sequence numbers. `digest` is that of its body. */
  inOrder: Effect.fnUntraced(function* (
    path: string,
    request: Sequenced,
    digest: string,
    work: (model: Models.Model) => Effect.Effect<Outcome, Refusal | EngineError>
  ) {
    const model = yield* models.asked(request.model_id)
    const sequence = request.seq_id ?? null
    return yield* futures.submit({
      slot: sequence === null ? null : `${model.id}#${sequence}`,
      digest: `${path} ${digest}`,
      once: true,
      owner: model.id,
      work: answered(work(model)),
      begin: (run) => model.enqueue({ sequence, run })
    })
  }),
  /** A request that begins at once. */
  atOnce: (
    submission: Omit<Futures.Submission, "work" | "begin"> & {
      readonly work: Effect.Effect<Outcome, Refusal | EngineError>
    }
  ) =>
    futures.submit({
      ...submission,
      work: answered(submission.work),
      begin: (run) => Effect.asVoid(Effect.forkIn(run, scope))
    })
})
