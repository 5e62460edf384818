/** The cost of a run. */
import { Schema } from "effect"

const Amounts = Schema.Struct({
  rollouts: Schema.Int,
  tokens: Schema.Int,
  calls: Schema.Int,
  usd: Schema.Finite,
  seconds: Schema.Finite
})
export interface Amounts extends Schema.Schema.Type<typeof Amounts> {}

/** One phase of the ledger; `redone` is the part that was repeated after a crash, `open` the part that is reserved and not settled. */
export const PhaseView = Schema.Struct({ phase: Schema.String, total: Amounts, redone: Amounts, open: Amounts })
export interface PhaseView extends Schema.Schema.Type<typeof PhaseView> {}

const Purposes = Schema.Struct({ train: Schema.Int, verification: Schema.Int, evaluation: Schema.Int })

export const CostView = Schema.Struct({
  ledger: Schema.Array(PhaseView),
  rollouts: Purposes,
  tokens: Purposes,
  failed: Purposes,
  steps: Schema.Array(Schema.Int),
  /** Tokens spent up to each step. */
  course: Schema.Struct({ train: Schema.Array(Schema.Int), verification: Schema.Array(Schema.Int) }),
  /** The limits of the config, by name. */
  caps: Schema.Record(Schema.String, Schema.Finite),
  wallSeconds: Schema.NullOr(Schema.Finite)
})
export interface CostView extends Schema.Schema.Type<typeof CostView> {}
