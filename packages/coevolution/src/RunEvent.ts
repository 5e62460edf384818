import { Group, Instruction, Question, Trajectory } from "@inspo/domain"
import { ProposerFailure } from "@inspo/reflection"
import { CheckpointRef, TrainMetrics } from "@inspo/engine"
import * as Evolution from "@inspo/evolution"
import { Population } from "@inspo/population"
import { Judges } from "@inspo/reward"
import { Schema } from "effect"
import { Algorithm } from "./Algorithm.ts"
import { Searched } from "./RunData.ts"
import { Identities } from "./Strategies.ts"

const Step = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/**
 * The first event of a run: its algorithm, strategies, engine and data. All except `code` must be equal on resume; the
 * addresses of engine, data and search may change.
 */
export const RunStarted = Schema.TaggedStruct("RunStarted", {
  algorithm: Algorithm,
  strategies: Identities,
  /** Fingerprints of the engine, of its tokenizer and of the data. */
  engine: Schema.String,
  tokenizer: Schema.String,
  data: Schema.String,
  search: Searched,
  code: Schema.String
})

/** The initial population: the seed instruction first. `failure` is why the proposer wrote no variants. */
export const PopulationInitialised = Schema.TaggedStruct("PopulationInitialised", {
  instructions: Schema.NonEmptyArray(Instruction.Instruction),
  failure: Schema.optionalKey(ProposerFailure)
})
export interface PopulationInitialised extends Schema.Schema.Type<typeof PopulationInitialised> {}

/**
 * The intent of a step, committed before its first request. `questions`, `assignment` and `samples` are parallel: each is a group of
 * so many trajectories, G if absent. `values` are those of the population, from which `probabilities` follow: the share of each
 * instruction in all draws. If the control permutes credit, `credit` maps each
 * instruction to the one that is credited with its groups. `policy` is the last step whose update the sampling policy has; only in
 * a step that is sampled while the one before it trains, else it is `step` − 1.
 */
export const StepPlanned = Schema.TaggedStruct("StepPlanned", {
  step: Step,
  questions: Schema.Array(Question.QuestionId),
  assignment: Schema.Array(Instruction.InstructionId),
  samples: Schema.optionalKey(Schema.Array(Schema.Natural)),
  values: Schema.Array(Population.Value),
  credit: Schema.optionalKey(Schema.Record(Schema.String, Instruction.InstructionId)),
  probabilities: Schema.Record(Schema.String, Schema.Finite),
  learningRate: Schema.Finite,
  policy: Schema.optionalKey(Step)
}).check(
  Schema.makeFilter(
    ({ policy, step }) => policy === undefined || policy === step - 2 || "a policy that lacks one update, of step − 2"
  ),
  Schema.makeFilter(
    ({ assignment, questions, samples = questions }) =>
      (assignment.length === questions.length && samples.length === questions.length) ||
      "an instruction and a number of samples for each question"
  )
)

/**
 * Trajectories that failed in their environment: they are in no group and have no reward, but count as spent. `tokens` are
 * theirs, `reason` is the failure of the first one.
 */
export const Failed = Schema.Struct({
  trajectories: Schema.NonEmptyArray(Trajectory.TrajectoryId),
  tokens: Schema.Int,
  reason: Schema.optionalKey(Schema.String)
})

/**
 * Rewards of a step: one group per planned question, except those whose trajectories all failed. With further rounds these are the
 * groups of all; `rescues` are those of its rescue round, which credit no instruction.
 */
export const RolloutsCollected = Schema.TaggedStruct("RolloutsCollected", {
  step: Step,
  groups: Schema.Array(Group.Group),
  failed: Schema.optionalKey(Failed),
  rescues: Schema.optionalKey(Schema.Array(Group.Group))
})
export interface RolloutsCollected extends Schema.Schema.Type<typeof RolloutsCollected> {}

/** All groups that a step asked for. */
export const askedGroups = ({ groups, rescues = [] }: RolloutsCollected): ReadonlyArray<Group.Group> => [
  ...groups,
  ...rescues
]

/** Rewards of one round of a step that can have further ones: round 0 is that of the plan. */
export const RoundCollected = Schema.TaggedStruct("RoundCollected", {
  step: Step,
  round: Step,
  groups: Schema.Array(Group.Group),
  failed: Schema.optionalKey(Failed)
})
export interface RoundCollected extends Schema.Schema.Type<typeof RoundCollected> {}

/**
 * The intent of a further round of a step: further questions, until enough groups differ, or the questions of failed groups under
 * another instruction. The arrays are parallel: each is a group of so many trajectories.
 */
export const RoundPlanned = Schema.TaggedStruct("RoundPlanned", {
  step: Step,
  round: Schema.Int.check(Schema.isGreaterThan(0)),
  purpose: Schema.Literals(["differing", "rescue"]),
  questions: Schema.Array(Question.QuestionId),
  assignment: Schema.Array(Instruction.InstructionId),
  samples: Schema.Array(Schema.Natural)
}).check(
  Schema.makeFilter(
    ({ assignment, questions, samples }) =>
      (assignment.length === questions.length && samples.length === questions.length) ||
      "an instruction and a number of samples for each question"
  )
)
export interface RoundPlanned extends Schema.Schema.Type<typeof RoundPlanned> {}

/** A member of a failed group, and the trajectory that is trained in its place, under its prompt. */
export const Replaced = Schema.Struct({
  member: Trajectory.TrajectoryId,
  by: Trajectory.TrajectoryId,
  from: Schema.Literals(["successes", "rescue"])
})
export interface Replaced extends Schema.Schema.Type<typeof Replaced> {}

/** The criteria of the judge of each question. */
export const Rubrics = Schema.Record(Schema.String, Schema.Array(Judges.Criterion))
export type Rubrics = typeof Rubrics.Type

/**
 * What is known of the trajectories that a step trains beside their rewards. A judge was `asked` so often, in vain if `unread`; it was
 * asked `again` where its noise is measured, with another verdict where `differing`. `rubrics` are the criteria of the questions after it.
 */
export const Findings = Schema.Struct({
  of: Schema.Array(Schema.Struct({ trajectory: Trajectory.TrajectoryId, ...Judges.Finding.fields })),
  asked: Schema.Natural,
  unread: Schema.Natural,
  again: Schema.Natural,
  differing: Schema.Natural,
  rubrics: Schema.optionalKey(Rubrics)
})
export interface Findings extends Schema.Schema.Type<typeof Findings> {}

/** The intent of the policy update of a step. `batchHash` identifies the datums. */
export const TrainingPlanned = Schema.TaggedStruct("TrainingPlanned", {
  step: Step,
  batchHash: Schema.String,
  miniBatches: Schema.Int,
  replaced: Schema.optionalKey(Schema.Array(Replaced)),
  findings: Schema.optionalKey(Findings)
})
export interface TrainingPlanned extends Schema.Schema.Type<typeof TrainingPlanned> {}

/** The policy update of a step, after the engine acknowledged it. */
export const StepTrained = Schema.TaggedStruct("StepTrained", {
  step: Step,
  /** One entry per optimizer step. */
  metrics: Schema.Array(TrainMetrics)
})
export interface StepTrained extends Schema.Schema.Type<typeof StepTrained> {}

/** Validation questions answered after a policy update, one trajectory each, with the best instruction at that step. */
export const Validated = Schema.TaggedStruct("Validated", {
  step: Step,
  instruction: Instruction.InstructionId,
  groups: Schema.Array(Group.Group),
  failed: Schema.optionalKey(Failed)
})
export interface Validated extends Schema.Schema.Type<typeof Validated> {}

/**
 * The answer of the proposer to a parent and its failures. `rejected` were not verified; `failure` is why the answer is
 * missing or incomplete.
 */
export const CandidatesProposed = Schema.TaggedStruct("CandidatesProposed", {
  step: Step,
  round: Schema.Int,
  parent: Instruction.InstructionId,
  failures: Schema.Array(Trajectory.TrajectoryId),
  critique: Schema.String,
  candidates: Schema.Array(Instruction.Candidate),
  rejected: Schema.Array(Schema.Struct({ text: Schema.String, reason: Schema.String })),
  notes: Schema.optionalKey(Schema.Json),
  failure: Schema.optionalKey(ProposerFailure)
})
export interface CandidatesProposed extends Schema.Schema.Type<typeof CandidatesProposed> {}

/**
 * Scores on the verification questions: `questions` are those without a failed rollout. `candidates[i][k]` is the score of
 * candidate i on question k; `parent` has new scores or is null.
 */
export const CandidatesVerified = Schema.TaggedStruct("CandidatesVerified", {
  step: Step,
  round: Schema.Int,
  questions: Schema.Array(Question.QuestionId),
  candidates: Schema.Array(Schema.Array(Trajectory.Reward)),
  parent: Schema.NullOr(Schema.Array(Trajectory.Reward)),
  rollouts: Schema.Int,
  /** Prompt and response tokens of these rollouts. */
  tokens: Schema.Int,
  /** Part of `rollouts`; a question with a failed rollout is not in `questions`. */
  failed: Schema.optionalKey(Failed)
}).check(
  Schema.makeFilter(
    ({ candidates, parent, questions }) =>
      [...candidates, parent ?? questions].every((scores) => scores.length === questions.length) ||
      `a score on each of the ${questions.length} questions from every candidate`
  )
)

/** The policy after a step was saved, and the checkpoints of the steps `removed` were deleted. */
export const CheckpointSaved = Schema.TaggedStruct("CheckpointSaved", {
  step: Step,
  checkpoint: CheckpointRef,
  removed: Schema.Array(Step)
})

/** One cell of the final table: test questions answered by one policy under one instruction, one trajectory each. */
export const Evaluated = Schema.TaggedStruct("Evaluated", {
  policy: Schema.Literals(["before", "after"]),
  instruction: Instruction.InstructionId,
  groups: Schema.Array(Group.Group),
  failed: Schema.optionalKey(Failed)
})
export interface Evaluated extends Schema.Schema.Type<typeof Evaluated> {}

/**
 * The last event: `best` is the instruction to use. `unproven` is I* if it is not the seed and there is no evidence that it is
 * better than the seed, else null.
 */
export const RunFinished = Schema.TaggedStruct("RunFinished", {
  best: Instruction.InstructionId,
  unproven: Schema.NullOr(Instruction.InstructionId)
})

/** Everything that can happen in a run; the state is a fold of these. */
export const RunEvent = Schema.Union([
  RunStarted,
  PopulationInitialised,
  StepPlanned,
  RoundCollected,
  RoundPlanned,
  RolloutsCollected,
  TrainingPlanned,
  StepTrained,
  Validated,
  Evolution.Pruned,
  Evolution.ParentsChosen,
  CandidatesProposed,
  Evolution.VerificationBegun,
  CandidatesVerified,
  Evolution.CandidatesJudged,
  Evolution.PopulationRefilled,
  Evolution.EvolutionSkipped,
  CheckpointSaved,
  Evaluated,
  RunFinished
])
export type RunEvent = typeof RunEvent.Type

/**
 * The current version of each event type, counted from 1. Increase a version when the format or the meaning of the event
 * changes: {@link EventLog} rejects other versions. From 0.1.0 on `test/fixtures` has events of each released version.
 */
export const versions: Readonly<Record<RunEvent["_tag"], number>> = {
  RunStarted: 6,
  PopulationInitialised: 1,
  StepPlanned: 3,
  RoundCollected: 1,
  RoundPlanned: 1,
  RolloutsCollected: 1,
  TrainingPlanned: 1,
  StepTrained: 1,
  Validated: 1,
  Pruned: 1,
  ParentsChosen: 1,
  CandidatesProposed: 1,
  VerificationBegun: 2,
  CandidatesVerified: 3,
  CandidatesJudged: 1,
  PopulationRefilled: 1,
  EvolutionSkipped: 1,
  CheckpointSaved: 2,
  Evaluated: 1,
  RunFinished: 2
}
