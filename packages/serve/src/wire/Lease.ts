/** Leases and their requests, rewards and their outcomes. */
import { Schema } from "effect"
import { Refusal } from "./Errors.ts"
import { Instruction } from "./Instruction.ts"
import * as Limits from "./Limits.ts"
import { CohortName, InstructionId, Key, LeaseId, PolicyVersion, QuestionId, Stratum } from "./Name.ts"

const Line = Schema.String.check(Schema.isMaxLength(Limits.feedbackLength))

/** What the work is about, for reflection. */
export const Question = Schema.Struct({
  id: QuestionId,
  text: Schema.optionalKey(Line),
  goldenAnswers: Schema.optionalKey(Schema.Array(Line).check(Schema.isMaxLength(Limits.goldenAnswers)))
}).annotate({ identifier: "Question" })
export interface Question extends Schema.Schema.Type<typeof Question> {}

export const LeaseRequest = Schema.Struct({
  key: Key,
  n: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Limits.samplesPerLease })).annotate({
      description:
        "Samples the lease covers, each with a reward of its own; 1 by default. Another n for a known key is a conflict"
    })
  ),
  instructions: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Limits.instructionsPerRequest })).annotate({
      description:
        "Instructions that the question is asked under, each at most once; 1 by default. The answer has up to so many leases, each drawn with the probability that it states: the first with this key, further ones with the key, `#` and the id of their instruction. Use it where the same question can be asked several times: it compares instructions best. In a `fullBatch` cohort set `sampler.instructionsPerQuestion` instead"
    })
  ),
  stratum: Schema.optionalKey(Stratum),
  sticky: Schema.optionalKey(
    Key.annotate({
      description:
        "Requests with one sticky key, such as the turns of a conversation, get one instruction and count as one unit. An online population keeps it over closed cohorts and restarts for its `stickyDays`, as long as the instruction is alive. Then they get another one, and the lease names the one it `replaces`"
    })
  ),
  question: Schema.optionalKey(Question)
}).annotate({ identifier: "LeaseRequest" })
export interface LeaseRequest extends Schema.Schema.Type<typeof LeaseRequest> {}

export const LeaseRequests = Schema.Struct({
  cohort: Schema.optionalKey(
    CohortName.annotate({
      description:
        "Required of a trainer; `online` populations open cohorts themselves. Its part before the last `/` names the training run: the first lease of another run closes the cohorts that earlier ones left open"
    })
  ),
  phase: Schema.optionalKey(
    Schema.Literals(["train", "validation"]).annotate({
      description:
        "`train` by default. Validation gets the incumbent, and its rewards decide nothing but the choice of a checkpoint"
    })
  ),
  fullBatch: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "These are all requests of a trainer's cohort: they are assigned together. Where `sampler.instructionsPerQuestion` is above 1, some questions get leases under several instructions, and as many others get none. False by default"
    })
  ),
  policyVersion: Schema.optionalKey(
    PolicyVersion.annotate({ description: "The policy that will do the work, recorded with the leases" })
  ),
  requests: Schema.Array(LeaseRequest).check(Schema.isMinLength(1), Schema.isMaxLength(Limits.leasesPerRequest))
}).annotate({ identifier: "LeaseRequests" })
export interface LeaseRequests extends Schema.Schema.Type<typeof LeaseRequests> {}

/** One instruction for one unit of work. */
export const Lease = Schema.Struct({
  lease: LeaseId,
  key: Key,
  n: Schema.Int,
  instruction: Instruction,
  replaces: Schema.optionalKey(
    InstructionId.annotate({
      description:
        "The first instruction of its sticky key, which was pruned, replaced or retired since; absent if the key keeps its instruction"
    })
  ),
  probability: Schema.Finite.annotate({
    description:
      "The probability with which this question gets this instruction, in (0, 1]: its propensity. In a `fullBatch` cohort that of a question that is asked"
  }),
  closesAt: Schema.NullOr(Schema.String).annotate({
    description:
      "The time from which on a reward counts as late, as ISO 8601 in UTC; null if it is unknown. It may change if `horizonSeconds` is `observed`"
  })
}).annotate({ identifier: "Lease" })
export interface Lease extends Schema.Schema.Type<typeof Lease> {}

/** Leases in the order of the requests. */
export const Leases = Schema.Struct({
  cohort: CohortName.annotate({ description: "The cohort of the last of them" }),
  incumbent: InstructionId.annotate({
    description: "The current incumbent: a client that stores another one fetches it, as its fallback"
  }),
  leases: Schema.Array(Lease).annotate({
    description:
      "In the order of the requests. A question that is asked under several instructions has several: the key of the request precedes `#`. A question of a `fullBatch` cohort may have none, and must not be used then"
  })
}).annotate({ identifier: "Leases" })
export interface Leases extends Schema.Schema.Type<typeof Leases> {}

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Amount = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))
const MetricName = Schema.String.check(Schema.isPattern(/^[A-Za-z][\w-]{0,63}$/u))

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
    Count.annotate({ description: "The sample of the lease, from 0; required if it covers several" })
  ),
  value: Schema.optionalKey(
    Schema.Finite.annotate({
      description: "The reward, in the population's `rewardRange`: [0, 1] by default"
    })
  ),
  failed: Schema.optionalKey(
    Schema.Literal(true).annotate({ description: "The environment failed, which is no evidence on the instruction" })
  ),
  abandoned: Schema.optionalKey(
    Schema.Literal(true).annotate({
      description:
        "The instruction was never used: the work was abandoned, or done without it. The sample is neither evidence nor a missing reward"
    })
  ),
  feedback: Schema.optionalKey(Line.annotate({ description: "What was good or bad, as text, for reflection" })),
  transcript: Schema.optionalKey(Transcript),
  goldenAnswers: Schema.optionalKey(Schema.Array(Line).check(Schema.isMaxLength(Limits.goldenAnswers))),
  tokens: Schema.optionalKey(Count.annotate({ description: "Tokens that the sample took" })),
  usd: Schema.optionalKey(Amount.annotate({ description: "What the sample cost, in US dollars" })),
  metrics: Schema.optionalKey(
    Schema.Record(MetricName, Amount).check(Schema.isMaxProperties(Limits.metrics)).annotate({
      description: "Further numbers of the sample, such as `latency` in seconds, which `guardrails` bound"
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

/** Closes a cohort: now, or as soon as so many of its leases are fully reported. */
export const Close = Schema.Struct({
  cohort: CohortName,
  groups: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)))
}).annotate({ identifier: "Close" })
export interface Close extends Schema.Schema.Type<typeof Close> {}

export const Rewards = Schema.Struct({
  rewards: Schema.Array(Reward).check(Schema.isMaxLength(Limits.rewardsPerRequest)),
  close: Schema.optionalKey(Close.annotate({ description: "Done after the rewards of the same request" }))
}).annotate({ identifier: "Rewards" })
export interface Rewards extends Schema.Schema.Type<typeof Rewards> {}

/**
 * The outcome of a reward. `late`: its cohort is closed, so it counts for reflection and the shown estimates alone;
 * `superseded`: it belongs to a branch that a rewind left; `unknown`: no lease of the population; `refused`: for the reason in `refusal`.
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
 * The state of a cohort: a sealed one gives out no new leases, a closed one is folded into the evidence. One that accepts no
 * more rewards is still `sealed` while cohorts before it are open.
 */
export const CohortState = Schema.Struct({
  cohort: CohortName,
  state: Schema.Literals(["open", "sealed", "closed"]),
  leases: Schema.NullOr(Count).annotate({
    description: "Leases given out; null if the cohort was closed before, since its leases are not in memory then"
  }),
  reported: Schema.NullOr(Count).annotate({ description: "Of those, with all their samples reported" }),
  closesAt: Schema.NullOr(Schema.String)
}).annotate({ identifier: "CohortState" })
export interface CohortState extends Schema.Schema.Type<typeof CohortState> {}

/** Results in the order of the rewards; `cohort` if the request closes one. */
export const RewardResults = Schema.Struct({
  results: Schema.Array(RewardResult),
  cohort: Schema.optionalKey(CohortState)
}).annotate({ identifier: "RewardResults" })
export interface RewardResults extends Schema.Schema.Type<typeof RewardResults> {}
