/** Asking for leases. */
import { Schema } from "effect"
import { Instruction } from "./Instruction.ts"
import * as Limits from "./Limits.ts"
import { CohortName, InstructionId, Key, LeaseId, PolicyVersion, QuestionId, Stratum } from "./Name.ts"

const Line = Schema.String.check(Schema.isMaxLength(Limits.feedbackLength))

/** What the work is about, as far as the caller wants reflection to know. */
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
  stratum: Schema.optionalKey(Stratum),
  sticky: Schema.optionalKey(
    Key.annotate({
      description:
        "Requests with one sticky key, such as the turns of a conversation, get one instruction and count as one unit. An online population keeps it for them over closed cohorts and restarts for its `stickyDays`, as long as the instruction is alive; then they get another one, and the lease says which it `replaces`"
    })
  ),
  question: Schema.optionalKey(Question)
}).annotate({ identifier: "LeaseRequest" })
export interface LeaseRequest extends Schema.Schema.Type<typeof LeaseRequest> {}

export const LeaseRequests = Schema.Struct({
  cohort: Schema.optionalKey(
    CohortName.annotate({ description: "Required of a trainer; `online` populations open cohorts themselves" })
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
        "These are all requests of a trainer's cohort: they are assigned together, stratified and with newcomers served, and candidates are tried on their questions. False by default"
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

/** One instruction handed out for one unit of work. */
export const Lease = Schema.Struct({
  lease: LeaseId,
  key: Key,
  n: Schema.Int,
  instruction: Instruction,
  replaces: Schema.optionalKey(
    InstructionId.annotate({
      description:
        "The instruction that its sticky key had first, which was pruned, replaced or retired since; absent for a key that keeps its instruction"
    })
  ),
  probability: Schema.NullOr(Schema.Finite).annotate({
    description:
      "With which the instruction was drawn, in (0, 1]: its propensity; null in a `fullBatch` cohort for which it is too large to compute"
  }),
  closesAt: Schema.NullOr(Schema.String).annotate({
    description:
      "From when on a reward counts as late, as ISO 8601 in UTC; null while nobody knows. It may change where `horizonSeconds` is `observed`"
  })
}).annotate({ identifier: "Lease" })
export interface Lease extends Schema.Schema.Type<typeof Lease> {}

/** Leases in the order of the requests. */
export const Leases = Schema.Struct({
  cohort: CohortName.annotate({ description: "The cohort of the last of them" }),
  incumbent: InstructionId.annotate({
    description: "The incumbent now: a client that keeps another one fetches it, to fall back on"
  }),
  leases: Schema.Array(Lease).annotate({
    description:
      "One for each request, in their order. Of a `fullBatch` cohort, while candidates are tried: not of the questions whose places the trials take; these are not to be asked"
  }),
  trials: Schema.optionalKey(
    Schema.Array(Lease).annotate({
      description:
        "Of a `fullBatch` cohort, while candidates are tried: further leases on questions that were asked for, to be answered and rewarded as the others. The key of the question comes before `#`"
    })
  )
}).annotate({ identifier: "Leases" })
export interface Leases extends Schema.Schema.Type<typeof Leases> {}
