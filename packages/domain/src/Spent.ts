/** What calls to language models cost. */
import { Schema } from "effect"

/**
 * `calls` counts requests, those that failed included; `tokens` are read and written tokens together. `usd` is the price
 * in US dollars, or null where the price of a model is not known.
 */
export const Spent = Schema.Struct({
  calls: Schema.Natural,
  tokens: Schema.Natural,
  usd: Schema.NullOr(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)))
})
export interface Spent extends Schema.Schema.Type<typeof Spent> {}

/** No call was made. */
export const nothing: Spent = { calls: 0, tokens: 0, usd: 0 }

/** Both together; the price is unknown where one of them is. */
export const add = (a: Spent, b: Spent): Spent => ({
  calls: a.calls + b.calls,
  tokens: a.tokens + b.tokens,
  usd: a.usd === null || b.usd === null ? null : a.usd + b.usd
})
