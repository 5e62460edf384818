/** Telling what came of leases. */
import { Schema } from "effect"
import * as Limits from "./Limits.ts"
import { CohortName, LeaseId, PolicyVersion } from "./Name.ts"
import { Refusal } from "./Errors.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Line = Schema.String.check(Schema.isMaxLength(Limits.feedbackLength))

/** A turn of a conversation. */
export const Message = Schema.Struct({
  role: Schema.NonEmptyString.check(Schema.isMaxLength(Limits.nameLength)),
  content: Schema.String
}).annotate({ identifier: "Message" })
export interface Message extends Schema.Schema.Type<typeof Message> {}

/** What was said and done, for reflection: a text, or turns. */
export const Transcript = Schema.Union([
  Schema.String.check(Schema.isMaxLength(Limits.transcriptLength)),
  Schema.Array(Message).check(
    Schema.isMaxLength(Limits.messagesPerTranscript),
    Schema.makeFilter(
      (messages) => messages.reduce((sum, { content }) => sum + content.length, 0) <= Limits.transcriptLength,
      { expected: `at most ${Limits.transcriptLength} characters in all` }
    )
  )
]).annotate({ identifier: "Transcript" })
export type Transcript = typeof Transcript.Type

/** A reward, or why there is none: exactly one of `value`, `failed` and `abandoned`. */
export const Reward = Schema.Struct({
  lease: LeaseId,
  sample: Schema.optionalKey(
    Count.annotate({ description: "Which sample of the lease, from 0; required where it covers several" })
  ),
  value: Schema.optionalKey(
    Schema.Finite.annotate({
      description: "The reward, in the population's `rewardRange`: [0, 1] unless it says otherwise"
    })
  ),
  failed: Schema.optionalKey(
    Schema.Literal(true).annotate({ description: "The environment failed: nothing is known of the instruction" })
  ),
  abandoned: Schema.optionalKey(
    Schema.Literal(true).annotate({
      description:
        "The instruction was never used: the work was given up, or done without it. It is neither evidence nor a missing reward"
    })
  ),
  feedback: Schema.optionalKey(Line.annotate({ description: "What was good or bad, in words, for reflection" })),
  transcript: Schema.optionalKey(Transcript),
  goldenAnswers: Schema.optionalKey(Schema.Array(Line).check(Schema.isMaxLength(Limits.goldenAnswers))),
  tokens: Schema.optionalKey(Count.annotate({ description: "Tokens that the sample took" })),
  usd: Schema.optionalKey(
    Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
      description: "What the sample cost, in US dollars"
    })
  ),
  policyVersion: Schema.optionalKey(PolicyVersion)
})
  .check(
    Schema.makeFilter(
      ({ abandoned, failed, value }) => [abandoned, failed, value].filter((one) => one !== undefined).length === 1,
      { expected: "exactly one of value, failed and abandoned" }
    )
  )
  .annotate({ identifier: "Reward" })
export interface Reward extends Schema.Schema.Type<typeof Reward> {}

/** Closes a cohort: now, or as soon as so many leases of it are fully reported, by whomever. */
export const Close = Schema.Struct({
  cohort: CohortName,
  groups: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)))
}).annotate({ identifier: "Close" })
export interface Close extends Schema.Schema.Type<typeof Close> {}

export const Rewards = Schema.Struct({
  rewards: Schema.Array(Reward).check(Schema.isMaxLength(Limits.rewardsPerRequest)),
  close: Schema.optionalKey(Close.annotate({ description: "Done after the rewards of the same request are taken" }))
}).annotate({ identifier: "Rewards" })
export interface Rewards extends Schema.Schema.Type<typeof Rewards> {}

/**
 * What became of a reward. `late`: its cohort is closed, so it serves reflection and the shown estimates alone;
 * `superseded`: it belongs to a branch that a rewind left; `unknown`: no lease of the population; `refused`: `refusal` says why.
 */
export const Outcome = Schema.Literals(["accepted", "duplicate", "late", "superseded", "unknown", "refused"]).annotate({
  identifier: "Outcome"
})
export type Outcome = typeof Outcome.Type

export const RewardResult = Schema.Struct({
  outcome: Outcome,
  refusal: Schema.optionalKey(Refusal)
}).annotate({ identifier: "RewardResult" })
export interface RewardResult extends Schema.Schema.Type<typeof RewardResult> {}

/**
 * The state of a cohort: a sealed one gives out no new leases, a closed one is folded into the evidence. One that takes no
 * more rewards is still `sealed` while cohorts before it are not closed.
 */
export const CohortState = Schema.Struct({
  cohort: CohortName,
  state: Schema.Literals(["open", "sealed", "closed"]),
  leases: Schema.NullOr(Count).annotate({
    description: "Given out; null where the cohort was closed before, since its leases are then forgotten"
  }),
  reported: Schema.NullOr(Count).annotate({ description: "Of those, with all their samples reported" }),
  closesAt: Schema.NullOr(Schema.String)
}).annotate({ identifier: "CohortState" })
export interface CohortState extends Schema.Schema.Type<typeof CohortState> {}

/** Results in the order of the rewards; `cohort` where one was to be closed. */
export const RewardResults = Schema.Struct({
  results: Schema.Array(RewardResult),
  cohort: Schema.optionalKey(CohortState)
}).annotate({ identifier: "RewardResults" })
export interface RewardResults extends Schema.Schema.Type<typeof RewardResults> {}
