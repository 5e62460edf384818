import type { Group, Instruction, Question, Trajectory } from "@inspo/domain"
import type { ProposeRequest } from "@inspo/reflection"
import type { Array as Arr } from "effect"
import type { Findings, Replaced, RoundPlanned, Rubrics, RunEvent } from "./RunEvent.ts"
import type { SavedCheckpoint, StepPlan } from "./RunState.ts"

/** The next piece of work. Only `perform` executes it; it makes no decisions. */
export type Command =
  | Record
  | Initialise
  | Collect
  | PlanTraining
  | Train
  | Propose
  | Verify
  | Validate
  | Checkpoint
  | Evaluate

/** A decision without work: the event is the decision. */
export interface Record {
  readonly _tag: "Record"
  readonly event: RunEvent
}

/** The first population: the seeds, then proposed instructions up to `size`. */
export interface Initialise {
  readonly _tag: "Initialise"
  readonly seeds: Arr.NonEmptyReadonlyArray<string>
  readonly size: number
}

/** Roll out every planned (instruction, question) group, in a step with further rounds those of one round. */
export interface Collect {
  readonly _tag: "Collect"
  readonly plan: StepPlan
  readonly instructions: ReadonlyArray<Instruction.Instruction>
  readonly round?: Round
}

/** A round of a step, of which there can be further ones: the groups of `further` are named from place `first` on. */
export interface Round {
  readonly number: number
  readonly first: number
  readonly further: RoundPlanned | null
}

/** The value of each instruction before a step, by id. */
export type Levels = { readonly [id: string]: number }

/** Turn the collected trajectories into mini-batches, with the learning rate of the plan, and record their hash. */
export interface PlanTraining {
  readonly _tag: "PlanTraining"
  readonly step: number
  readonly learningRate: number
  /** Where instructions share a group: what the advantages are relative to. */
  readonly levels: Levels | null
  readonly groups: ReadonlyArray<Group.Group>
  readonly replaced: ReadonlyArray<Replaced>
  /** The criteria of judges so far. */
  readonly rubrics: Rubrics
}

/** Train on the planned mini-batches; `batchHash` must match. Meanwhile roll out `ahead`, with the policy before the update. */
export interface Train {
  readonly _tag: "Train"
  readonly step: number
  readonly learningRate: number
  /** Where instructions share a group: what the advantages are relative to. */
  readonly levels: Levels | null
  readonly groups: ReadonlyArray<Group.Group>
  readonly replaced: ReadonlyArray<Replaced>
  readonly findings: Findings | null
  readonly batchHash: string
  readonly ahead: Omit<Collect, "_tag"> | null
}

/** Show the parent and failures to the proposer. */
export interface Propose {
  readonly _tag: "Propose"
  readonly step: number
  readonly round: number
  readonly parent: Instruction.Instruction
  readonly failures: ReadonlyArray<Trajectory.TrajectoryId>
  readonly count: number
  /** Texts a candidate must not repeat. */
  readonly known: ReadonlyArray<string>
  readonly history: ReadonlyArray<{ readonly instruction: Instruction.Instruction; readonly score: number }>
  readonly notebook: ProposeRequest["notebook"]
}

/** Roll out the candidates, and the parent if the rule needs it, on the same questions. */
export interface Verify {
  readonly _tag: "Verify"
  readonly step: number
  readonly round: number
  readonly candidates: ReadonlyArray<Instruction.Candidate>
  readonly parent: Instruction.Instruction | null
  readonly questions: ReadonlyArray<Question.QuestionId>
}

/** Answer the validation questions with the current policy. */
export interface Validate {
  readonly _tag: "Validate"
  readonly step: number
  readonly instruction: Instruction.Instruction
}

/** Save the policy, then remove the checkpoints that are no longer needed. */
export interface Checkpoint {
  readonly _tag: "Checkpoint"
  readonly step: number
  readonly removed: ReadonlyArray<SavedCheckpoint>
}

/** Answer the test questions with the policy of one checkpoint under one instruction. */
export interface Evaluate {
  readonly _tag: "Evaluate"
  readonly policy: "before" | "after"
  readonly checkpointStep: number
  readonly instruction: Instruction.Instruction
}
