import type { Engine, EngineError, SharedCalls } from "@inspo/engine"
import { type Duration, Effect } from "effect"
import type { Checkpoints } from "../Checkpoints.ts"
import type { Futures } from "../Futures.ts"
import type { Limits } from "../Limits.ts"
import type { LoadedWeights } from "../LoadedWeights.ts"
import type { Models } from "../Models.ts"
import { brief, type Refusal, refuse } from "../Refusal.ts"
import type { Samplers, Source } from "../Samplers.ts"
import type { Sessions } from "../Sessions.ts"
import type { Submissions } from "../Submissions.ts"

/** What the endpoints are made of. */
export interface Parts {
  readonly checkpoints: Checkpoints
  readonly engine: Engine.Interface
  readonly futures: Futures
  readonly limits: Limits
  readonly loaded: LoadedWeights
  /** The base model. */
  readonly model: string
  readonly models: Models
  readonly sampleOne: SharedCalls.SampleOne<Source, Refusal | EngineError>
  readonly samplers: Samplers
  readonly sessions: Sessions
  /** How long a session lives without a request, and a request without a session that nobody asks for. */
  readonly sessionTimeout: Duration.Input
  readonly submissions: Submissions
  /** What clients load their tokenizer from. */
  readonly tokenizer: string
}

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
