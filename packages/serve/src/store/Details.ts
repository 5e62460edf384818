/** What clients report in addition to leases and rewards, for reflection and for people: texts, and what the work cost. */
import { Schema } from "effect"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const text = Schema.optionalKey(Schema.String)
const texts = Schema.optionalKey(Schema.Array(Schema.String))

/** What the work of a lease is about, and the policy that does it. */
export const LeaseDetails = Schema.Struct({
  question: Schema.optionalKey(Schema.Struct({ text, goldenAnswers: texts })),
  policyVersion: text
})
export interface LeaseDetails extends Schema.Schema.Type<typeof LeaseDetails> {}

/** What was said and done: a text, or turns. */
export const Transcript = Schema.Union([
  Schema.String,
  Schema.Array(Schema.Struct({ role: Schema.String, content: Schema.String }))
])
export type Transcript = typeof Transcript.Type

/** The result of a sample besides its reward. `failed`: its environment failed; `abandoned`: its instruction was never used. */
export const RewardDetails = Schema.Struct({
  feedback: text,
  transcript: Schema.optionalKey(Transcript),
  goldenAnswers: texts,
  tokens: Schema.optionalKey(Count),
  usd: Schema.optionalKey(Schema.Finite),
  policyVersion: text,
  failed: Schema.optionalKey(Schema.Literal(true)),
  abandoned: Schema.optionalKey(Schema.Literal(true))
})
export interface RewardDetails extends Schema.Schema.Type<typeof RewardDetails> {}

/** The details of one command: of each request of a `Lease`, or of each item of a `Reward`, in their order. */
export interface Details {
  readonly leases?: ReadonlyArray<LeaseDetails>
  readonly rewards?: ReadonlyArray<RewardDetails>
}
