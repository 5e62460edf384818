/** The events of a population. An event contains a decision; the state is a fold of the events. */
import { Schema } from "effect"
import { Instruction, Question } from "@inspo/domain"
import { Group } from "@inspo/evolution"
import { Population } from "@inspo/population"
import * as Evolution from "@inspo/evolution"
import { Broken, Incumbent, Learning, Metrics, Tallies } from "./Learning.ts"
import { Settings } from "./Settings.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Place = Schema.Int.check(Schema.isGreaterThan(0))
const Time = Schema.Finite
const LeasePhase = Schema.Literals(["train", "validation"])

/** The first event: the seed is the first of the members. None of them is a newcomer. */
export const Created = Schema.TaggedStruct("Created", {
  settings: Settings,
  members: Schema.NonEmptyArray(Instruction.Instruction)
})

/** Settings that hold from the next cohort on. */
export const Configured = Schema.TaggedStruct("Configured", { settings: Settings })

/** While a population is frozen, no member is pruned and nothing evolves. If it `usesSeed`, all leases get the seed, and none is evidence. */
export const Frozen = Schema.TaggedStruct("Frozen", {
  isFrozen: Schema.Boolean,
  usesSeed: Schema.optionalKey(Schema.Literal(true))
})

/** A member entered by hand. */
export const MemberAdded = Schema.TaggedStruct("MemberAdded", { member: Instruction.Instruction })

/** A pinned member is the incumbent, and neither pruned nor replaced. No other is pinned then. */
export const MemberPinned = Schema.TaggedStruct("MemberPinned", {
  id: Instruction.InstructionId,
  isPinned: Schema.Boolean
})

/** A member left by hand. */
export const MemberRetired = Schema.TaggedStruct("MemberRetired", { id: Instruction.InstructionId })

/** A person decided on the candidate at a place of the proposal that waits. */
export const CandidateReviewed = Schema.TaggedStruct("CandidateReviewed", { place: Count, isApproved: Schema.Boolean })

/** A cohort began: `shares` are frozen. */
export const CohortOpened = Schema.TaggedStruct("CohortOpened", {
  cohort: Schema.String,
  index: Place,
  phase: LeasePhase,
  isNamed: Schema.Boolean,
  isFullBatch: Schema.Boolean,
  values: Schema.Array(Population.Value),
  shares: Schema.Array(Schema.Struct({ id: Instruction.InstructionId, probability: Schema.Finite })),
  at: Time
})

/**
 * A lease as it was given out. `probability` is that with which its question got its instruction. `isCarried`
 * if a conversation of an earlier cohort continues: it keeps its instruction and is not evidence again. `replaces` is its first
 * instruction, if that was removed.
 */
export const Given = Schema.Struct({
  lease: Schema.String,
  key: Schema.String,
  n: Place,
  instruction: Instruction.InstructionId,
  probability: Schema.Finite,
  unit: Schema.String,
  isSticky: Schema.Boolean,
  isCarried: Schema.optionalKey(Schema.Literal(true)),
  replaces: Schema.optionalKey(Instruction.InstructionId),
  stratum: Schema.String,
  question: Schema.NullOr(Question.QuestionId)
})
export interface Given extends Schema.Schema.Type<typeof Given> {}

/** Leases were given out. */
const Leased = Schema.TaggedStruct("Leased", { cohort: Schema.String, leases: Schema.Array(Given) })

/** A reward in [0, 1], null if there will be none, or that the instruction was never used. */
export const SampleReward = Schema.NullOr(Schema.Union([Schema.Finite, Schema.Literal("abandoned")]))

/** The numbers that guardrails name. */
const metrics = Schema.optionalKey(Metrics)

/** First rewards of samples in a cohort that is not complete. */
const Rewarded = Schema.TaggedStruct("Rewarded", {
  cohort: Schema.String,
  rewards: Schema.Array(Schema.Struct({ key: Schema.String, sample: Count, value: SampleReward, metrics })),
  at: Schema.optionalKey(Time)
})

/** First rewards that came too late to be evidence; estimates are shown with them. */
const RewardedLate = Schema.TaggedStruct("RewardedLate", {
  rewards: Schema.Array(
    Schema.Struct({
      lease: Schema.String,
      sample: Count,
      instruction: Instruction.InstructionId,
      stratum: Schema.String,
      value: SampleReward,
      metrics
    })
  )
})

/** The client wants a cohort closed as soon as so many of its leases have reported. */
const CloseRequested = Schema.TaggedStruct("CloseRequested", { cohort: Schema.String, groups: Count })

/** A cohort gives out no new leases. */
const Sealed = Schema.TaggedStruct("Sealed", {
  cohort: Schema.String,
  reason: Schema.Literals(["units", "time", "fullBatch", "client", "members"]),
  at: Time
})

/** A cohort takes no more evidence. `waited` is how long after sealing its last reward came, if one did. */
const Settled = Schema.TaggedStruct("Settled", {
  cohort: Schema.String,
  reason: Schema.Literals(["complete", "client", "horizon"]),
  waited: Schema.optionalKey(Time),
  at: Time
})

/** A cohort was folded into the evidence; its leases are forgotten. `numbers` are those of guardrails by instruction. */
export const Closed = Schema.TaggedStruct("Closed", {
  cohort: Schema.String,
  index: Place,
  units: Schema.Array(Group),
  numbers: Schema.optionalKey(Schema.Record(Schema.String, Tallies))
})

/** A member is shown to break a guardrail, and is leased no more. */
export const Paused = Schema.TaggedStruct("Paused", { id: Instruction.InstructionId, broken: Broken })

/** A validation cohort ended, with the mean reward of the incumbent, null without a reward. */
export const ValidationClosed = Schema.TaggedStruct("ValidationClosed", {
  cohort: Schema.String,
  instructions: Schema.Array(Instruction.InstructionId),
  mean: Schema.NullOr(Schema.Finite),
  units: Count
})

/** Decisions after a cohort are over: the incumbent, the members that are better than the seed, and which newcomers the cap no longer holds. */
export const Concluded = Schema.TaggedStruct("Concluded", {
  incumbent: Incumbent,
  proven: Schema.Array(Instruction.InstructionId),
  established: Schema.Array(Instruction.InstructionId)
})

/** A new branch begins with what was learned up to a cohort; cohorts that were not closed are given up. */
export const Rewound = Schema.TaggedStruct("Rewound", {
  branch: Place,
  to: Schema.String,
  requestId: Schema.String,
  learning: Learning
})

/** All events of a population. */
export const PopulationEvent = Schema.Union([
  Created,
  Configured,
  Frozen,
  MemberAdded,
  MemberPinned,
  MemberRetired,
  CandidateReviewed,
  Paused,
  CohortOpened,
  Leased,
  Rewarded,
  RewardedLate,
  CloseRequested,
  Sealed,
  Settled,
  Closed,
  ValidationClosed,
  ...Evolution.EvolutionEvent.members,
  Concluded,
  Rewound
])
export type PopulationEvent = typeof PopulationEvent.Type

/** The event with this tag. */
export type EventOf<Tag extends PopulationEvent["_tag"]> = Extract<PopulationEvent, { readonly _tag: Tag }>
