/** The instructions of a population, and actions of admins on them. */
import { Schema } from "effect"
import { Wording } from "./Instruction.ts"
import { InstructionId, Stratum } from "./Name.ts"

/** A mean reward with its anytime-valid interval, on the scale of the rewards; null before the first reward. A stratum has a mean alone. */
export const Estimate = Schema.Struct({
  mean: Schema.NullOr(Schema.Finite),
  low: Schema.NullOr(Schema.Finite),
  high: Schema.NullOr(Schema.Finite),
  samples: Schema.Int.annotate({ description: "Rewards of the mean, late ones included" }),
  missing: Schema.Finite.annotate({
    description: "Share of its samples in closed cohorts without a reward, in [0, 1]"
  }),
  failed: Schema.Int.annotate({
    description: "Samples whose environment failed; they are no evidence, and neither missing nor in `samples`"
  })
}).annotate({ identifier: "Estimate" })
export interface Estimate extends Schema.Schema.Type<typeof Estimate> {}

/** A difference of expected rewards, on their scale, with its 95 % interval. */
export const Difference = Schema.Struct({ mean: Schema.Finite, low: Schema.Finite, high: Schema.Finite }).annotate({
  identifier: "Difference",
  description: "A difference of expected rewards within questions, with its 95 % interval by a Gaussian model"
})
export interface Difference extends Schema.Schema.Type<typeof Difference> {}

export const Member = Schema.Struct({
  id: InstructionId,
  wording: Wording,
  origin: Schema.Literals(["seed", "variant", "proposed", "added"]),
  parent: Schema.NullOr(InstructionId),
  generation: Schema.Int,
  standing: Schema.Literals(["waiting", "approved", "member", "pruned", "rejected", "retired"]).annotate({
    description:
      "`waiting` for approval, `approved` and about to enter, a `member`, or gone: `pruned` by the rule, `rejected` or `retired`"
  }),
  pinned: Schema.Boolean.annotate({ description: "An admin chose it as the incumbent" }),
  probability: Schema.Finite.annotate({ description: "Its share of the leases of the newest cohort, in [0, 1]" }),
  chance: Schema.Finite.annotate({ description: "The probability that it is the best member, in [0, 1]" }),
  toSeed: Schema.NullOr(Difference).annotate({
    description: "By how much it is better than the seed; null for the seed, and where one of them is not a member"
  }),
  estimate: Estimate,
  strata: Schema.Record(Stratum, Estimate),
  paused: Schema.optionalKey(Schema.String).annotate({
    description: "The guardrail that it breaks, with the figures, so that it gets no leases"
  })
}).annotate({ identifier: "Member" })
export interface Member extends Schema.Schema.Type<typeof Member> {}

const target = { id: InstructionId }

/** `pin` with id null lets the evidence choose the incumbent again. */
export const MemberAction = Schema.Union([
  Schema.Struct({ action: Schema.Literal("add"), wording: Wording, parent: Schema.optionalKey(InstructionId) }),
  Schema.Struct({ action: Schema.Literal("pin"), id: Schema.NullOr(InstructionId) }),
  Schema.Struct({ action: Schema.Literal("approve"), ...target }),
  Schema.Struct({ action: Schema.Literal("reject"), ...target }),
  Schema.Struct({ action: Schema.Literal("retire"), ...target })
]).annotate({
  identifier: "MemberAction",
  message: 'Expected an object whose field action is "add", "pin", "approve", "reject" or "retire"'
})
export type MemberAction = typeof MemberAction.Type
