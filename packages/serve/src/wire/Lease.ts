/** Requests for leases, and leases. */
import { Schema } from "effect"
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
    PolicyVersion.annotate({
      description: "The policy that will do the work, recorded with the leases"
    })
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
