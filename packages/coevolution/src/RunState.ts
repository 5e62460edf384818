import { type Group, Instruction, Invariant, type Trajectory } from "@inspo/domain"
import type { CheckpointRef } from "@inspo/engine"
import { begin, type EvolutionState } from "@inspo/evolution"
import type { Population } from "@inspo/population"
import { ReplayBuffer } from "@inspo/replay-buffer"
import { Schema } from "effect"
import * as Collapse from "./Collapse.ts"
import type { Degradation } from "./Degradation.ts"
import type { Evaluated, Findings, Replaced, RoundCollected, RoundPlanned, Rubrics, StepPlanned } from "./RunEvent.ts"
import type { Identities } from "./Strategies.ts"

/**
 * The input of all decisions of the loop: a fold of the run's events, immutable. Extends the state of evolution. Tokens and
 * texts of trajectories stay in the journal's records and are referenced by id.
 */
export interface RunState extends EvolutionState {
  readonly phase: Phase
  /** The strategies of the run; null before it begins. */
  readonly strategies: Identities | null
  /** Steps whose policy update is done. */
  readonly step: number
  /** W of the step before the current observation, for the paper's ranking (row 3). */
  readonly previousValues: ReadonlyArray<Population.Value>
  /** All instructions, removed ones included, in order of creation. */
  readonly instructions: ReadonlyArray<Instruction.Instruction>
  /** The removed instructions with their last values, in order of removal. */
  readonly removed: ReadonlyArray<Population.Value>
  /** That the best instruction within questions is better than the seed; from the time the seed left, the last one. */
  readonly evidence: Evidence | null
  readonly buffer: ReplayBuffer.Contents
  /** The latest successes of each instruction on each question; none unless the settings ask for them. */
  readonly successes: Successes
  /** The criteria of judges by question; absent without a judge that has any. */
  readonly rubrics?: Rubrics
  readonly checkpoints: ReadonlyArray<SavedCheckpoint>
  readonly evaluations: ReadonlyArray<typeof Evaluated.Type>
  /** The trend of the steps' mean training rewards. */
  readonly rewardTrend: Collapse.RewardTrend
  readonly validations: ReadonlyArray<Validation>
  readonly spent: Spent
  /** Spent rollouts that failed in their environment. */
  readonly failed: Spent["rollouts"]
  /** Failures that did not stop the run, one fact for each part. */
  readonly degraded: ReadonlyArray<Degradation>
}

/** How much better an instruction is than the seed within the same questions: the mean difference, and its 95 % interval above 0. */
export const Evidence = Schema.Struct({
  step: Schema.Natural,
  instruction: Instruction.InstructionId,
  rival: Instruction.InstructionId,
  difference: Schema.Finite,
  lower: Schema.Finite,
  upper: Schema.Finite
})
export interface Evidence extends Schema.Schema.Type<typeof Evidence> {}

/** A checkpoint with the step whose policy it holds. */
export interface SavedCheckpoint {
  readonly step: number
  readonly checkpoint: CheckpointRef
}

/** The mean reward of the policy after `step` on the validation questions, with the best instruction at that step. */
export interface Validation {
  readonly step: number
  readonly instruction: Instruction.InstructionId
  readonly mean: number
  readonly questions: number
}

/** Rollouts and tokens (prompt and response) by purpose. */
export interface Spent {
  readonly rollouts: { readonly train: number; readonly verification: number; readonly evaluation: number }
  readonly tokens: { readonly train: number; readonly verification: number; readonly evaluation: number }
}

/** The latest successes by instruction and question, the oldest first. */
export type Successes = {
  readonly [instruction: string]: { readonly [question: string]: ReadonlyArray<Success> }
}

/** A rollout that was rewarded; its tokens are in the journal's records. */
export interface Success {
  readonly id: Trajectory.TrajectoryId
  readonly reward: number
}

export type StepPlan = typeof StepPlanned.Type

/** The plan of a step, its groups, and those of its rescue round. */
export interface Collected {
  readonly plan: StepPlan
  readonly groups: ReadonlyArray<Group.Group>
  readonly rescues?: ReadonlyArray<Group.Group>
}

/** A round of a step: what was planned, and its groups. */
export interface Round {
  readonly plan: StepPlan | RoundPlanned
  readonly collected: RoundCollected
}

/** The groups of a step with the plan of its update. */
interface PlannedUpdate extends Collected {
  readonly batchHash: string
  readonly replaced?: ReadonlyArray<Replaced>
  readonly findings?: Findings
}

/** The next decision. In `Evolve` it is one of evolution, or the event that evolution waits for. */
export type Phase =
  | { readonly _tag: "Unstarted" }
  | { readonly _tag: "Initialise" }
  | { readonly _tag: "Checkpoint"; readonly following: Phase }
  | { readonly _tag: "Plan" }
  /** `further` is the round to collect after the `rounds` of the step. */
  | {
      readonly _tag: "Collect"
      readonly plan: StepPlan
      readonly rounds?: ReadonlyArray<Round>
      readonly further?: RoundPlanned
    }
  | { readonly _tag: "Extend"; readonly plan: StepPlan; readonly rounds: ReadonlyArray<Round> }
  | ({ readonly _tag: "PlanTraining" } & Collected)
  | ({ readonly _tag: "PlanAhead" } & PlannedUpdate)
  /** `ahead` is the plan of the next step if its rollouts are sampled during the update. */
  | ({ readonly _tag: "Train"; readonly ahead?: StepPlan } & PlannedUpdate)
  | { readonly _tag: "Validate" }
  | { readonly _tag: "Evolve" }
  | { readonly _tag: "Evaluate" }
  | {
      readonly _tag: "Finished"
      readonly best: Instruction.InstructionId
      readonly unproven: Instruction.InstructionId | null
    }

export { candidateId, candidateInstruction, instructionId } from "@inspo/evolution"

/** A run that has begun and not ended: there is a next command. */
export interface Running extends RunState {
  readonly phase: Exclude<Phase, { readonly _tag: "Unstarted" | "Finished" }>
}

export const isRunning = (state: RunState): state is Running =>
  state.phase._tag !== "Unstarted" && state.phase._tag !== "Finished"

/** The state before the first event. */
export const unstarted: RunState = {
  ...begin([]),
  phase: { _tag: "Unstarted" },
  strategies: null,
  step: 0,
  previousValues: [],
  instructions: [],
  removed: [],
  evidence: null,
  buffer: ReplayBuffer.empty,
  successes: {},
  checkpoints: [],
  evaluations: [],
  rewardTrend: Collapse.unstarted,
  validations: [],
  spent: {
    rollouts: { train: 0, verification: 0, evaluation: 0 },
    tokens: { train: 0, verification: 0, evaluation: 0 }
  },
  failed: { train: 0, verification: 0, evaluation: 0 },
  degraded: []
}

/** An instruction of this run, removed or not; `apply` rejects events that name any other. */
export const instruction = (state: RunState, id: Instruction.InstructionId): Instruction.Instruction => {
  const found = state.instructions.find((known) => known.id === id)
  if (found === undefined) throw new Invariant.InvariantBroken(`instruction ${id}`)
  return found
}

/** An event cannot follow the events before it: the journal is inconsistent. */
export class UnexpectedEvent extends Schema.TaggedError<UnexpectedEvent>()("UnexpectedEvent", {
  event: Schema.String,
  phase: Schema.String
}) {
  override get message() {
    return `journal: ${this.event} cannot happen in the current phase, which is before ${this.phase}`
  }
}

/** An event names something that no earlier event introduced: the journal is inconsistent. */
export class UnknownName extends Schema.TaggedError<UnknownName>()("UnknownName", {
  event: Schema.String,
  what: Schema.String,
  name: Schema.String
}) {
  override get message() {
    return `journal: ${this.event} names ${this.what} ${this.name}, which no earlier event introduces`
  }
}
