/** What calls to language models cost. */
import { Schema } from "effect"

/** `calls` counts requests, failed ones too; `tokens` are input and output together. `usd` is null if the price is unknown. */
export const Spent = Schema.Struct({
  calls: Schema.Natural,
  tokens: Schema.Natural,
  usd: Schema.NullOr(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)))
})
export interface Spent extends Schema.Schema.Type<typeof Spent> {}

/** No calls. */
export const nothing: Spent = { calls: 0, tokens: 0, usd: 0 }

/** The sum of both; the price is null if one of them is null. */
export const add = (a: Spent, b: Spent): Spent => ({
  calls: a.calls + b.calls,
  tokens: a.tokens + b.tokens,
  usd: a.usd === null || b.usd === null ? null : a.usd + b.usd
})
