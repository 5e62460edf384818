/** Every instruction and candidate, its parent, and its rewards. */
import { Instruction, Trajectory } from "@inspo/domain"
import { Interval } from "@inspo/statistics"
import { Schema } from "effect"
import { Names } from "./OverviewView.ts"
import { Fate } from "./PopulationView.ts"

/** The mean reward of a candidate on its verification questions, and that of its parent: on the same, or of all its training. */
export const VerificationView = Schema.Struct({
  mean: Schema.Finite,
  parentMean: Schema.NullOr(Schema.Finite),
  questions: Schema.Int,
  /** Its reward minus that of its parent by question; null unless the parent was run again. */
  difference: Schema.NullOr(Interval.MeanDifference)
})
export interface VerificationView extends Schema.Schema.Type<typeof VerificationView> {}

/** An instruction, or a rejected candidate (`id` null). `evolution` is an index of `evolutions`; `trial` its name in verification. */
export const NodeView = Schema.Struct({
  key: Schema.NonEmptyString,
  id: Schema.NullOr(Instruction.InstructionId),
  text: Schema.String,
  parent: Schema.NullOr(Instruction.InstructionId),
  generation: Schema.NullOr(Schema.Int),
  step: Schema.Int,
  fate: Fate,
  leftAt: Schema.NullOr(Schema.Int),
  reason: Schema.NullOr(Schema.String),
  rationale: Schema.NullOr(Schema.String),
  verification: Schema.NullOr(VerificationView),
  trial: Schema.NullOr(Instruction.InstructionId),
  value: Schema.NullOr(Schema.Finite),
  groups: Schema.Int,
  mean: Schema.NullOr(Schema.Finite),
  /** Its mean training reward minus that of its parent on the same questions; null if they shared fewer than two. */
  difference: Schema.NullOr(Interval.MeanDifference),
  evolution: Schema.NullOr(Schema.Int)
})
export interface NodeView extends Schema.Schema.Type<typeof NodeView> {}

/** One round of an evolution: the failures that the proposer received, and its critique. */
export const EvolutionView = Schema.Struct({
  step: Schema.Int,
  round: Schema.Int,
  parent: Instruction.InstructionId,
  critique: Schema.String,
  failures: Schema.Array(Trajectory.TrajectoryId),
  candidates: Schema.Int,
  rejected: Schema.Int,
  questions: Schema.NullOr(Schema.Int),
  rollouts: Schema.NullOr(Schema.Int)
})
export interface EvolutionView extends Schema.Schema.Type<typeof EvolutionView> {}

export const LineageView = Schema.Struct({
  /** The last step of the run so far. */
  step: Schema.Int,
  best: Schema.NullOr(Instruction.InstructionId),
  names: Names,
  nodes: Schema.Array(NodeView),
  evolutions: Schema.Array(EvolutionView)
})
export interface LineageView extends Schema.Schema.Type<typeof LineageView> {}
