import { type Group, type Instruction, Invariant, Question, Trajectory } from "@inspo/domain"
import { Learners } from "@inspo/reflection"
import { Array as Arr } from "effect"
import {
  type Algorithm,
  apply,
  type Command,
  type Collect,
  type DecisionContext,
  type Initialise,
  next,
  type Propose,
  type RunEvent,
  RunState,
  Schedule,
  Strategies,
  type Verify
} from "@inspo/coevolution"

/** A command of the loop, its event, and the states before and after. */
export interface Move {
  readonly before: RunState.RunState
  readonly command: Command
  readonly event: RunEvent
  readonly after: RunState.RunState
}

/** The numbers of held-out questions. */
export interface HeldOut {
  readonly validation: number
  readonly test: number
}

/** Replaces engine, proposer and data: the event of a command. */
export type Environment = (command: Command, state: RunState.RunState) => RunEvent

/** The moves of the loop from a state on, until the end or until `over`. */
export function* play(
  context: DecisionContext,
  from: RunState.RunState,
  environment: Environment,
  over: (state: RunState.RunState) => boolean = () => false
): Generator<Move> {
  let state = from
  while (RunState.isRunning(state) && !over(state)) {
    const before = state
    const command = next(context, before)
    const event = environment(command, before)
    state = apply(context, before, event)
    yield { before, command, event, after: state }
  }
}

/** The state of a run before its first command. */
export const begun = (context: DecisionContext): RunState.RunState =>
  apply(context, RunState.unstarted, {
    _tag: "RunStarted",
    algorithm: context.algorithm,
    strategies: Strategies.identities(context.strategies),
    engine: "",
    tokenizer: "",
    data: "",
    search: "passages",
    code: ""
  })

/**
 * An environment in which instructions perform about equally, later ones a little better; the proposer returns the requested
 * number of candidates, and all beat their parent. A group has one trajectory that represents all.
 */
export const scripted = ({ algorithm }: DecisionContext, there: HeldOut): Environment => {
  const trajectoryId = naming()
  return (command, state) => {
    switch (command._tag) {
      case "Record":
        return command.event
      case "Initialise":
        return initialised(command)
      case "Collect":
        return collected(command, rewardsOf(state), trajectoryId)
      case "PlanTraining":
        return { _tag: "TrainingPlanned", step: command.step, batchHash: "", miniBatches: 0 }
      case "Train":
        return { _tag: "StepTrained", step: command.step, metrics: [] }
      case "Propose":
        return proposed(command, lessonOf(algorithm, command))
      case "Verify":
        return verified(command)
      case "Validate": {
        const { instruction, step } = command
        const groups = heldOut(instruction.id, Schedule.validationQuestions, there.validation)
        return { _tag: "Validated", step, instruction: instruction.id, groups }
      }
      case "Checkpoint": {
        const removed = command.removed.map(({ step }) => step)
        return { _tag: "CheckpointSaved", step: command.step, checkpoint: { uri: "none", hash: "" }, removed }
      }
      case "Evaluate": {
        const { instruction, policy } = command
        const groups = heldOut(instruction.id, algorithm.evaluation.questions, there.test)
        return { _tag: "Evaluated", policy, instruction: instruction.id, groups }
      }
    }
  }
}

const initialised = ({ seeds, size }: Initialise): RunEvent => ({
  _tag: "PopulationInitialised",
  instructions: Arr.makeBy(Math.max(size, seeds.length), (index) => ({
    id: RunState.instructionId(index),
    text: seeds[index] ?? `initial ${index}`,
    generation: 0,
    parent: null,
    origin: index === 0 ? "seed" : "variant",
    bornAt: 0
  }))
})

const collected = (
  { plan }: Collect,
  rewards: ReturnType<typeof rewardsOf>,
  trajectoryId: ReturnType<typeof naming>
): RunEvent => ({
  _tag: "RolloutsCollected",
  step: plan.step,
  groups: Arr.zipWith(plan.questions, plan.assignment, (questionId, id) =>
    group(id, questionId, trajectoryId(questionId), rewards(id))
  )
})

/** What a proposer that learns does before a proposal, if the proposer does. */
export const lessonOf = ({ proposer }: Pick<Algorithm, "proposer">, { notebook, parent }: Propose) =>
  Learners.fromConfig(proposer.kind)?.learn({ parent, ...(notebook === undefined ? {} : { notebook }) }, "")

const proposed = (
  { count, failures, parent, round, step }: Propose,
  lesson: ReturnType<typeof lessonOf>
): RunEvent => ({
  _tag: "CandidatesProposed",
  step,
  round,
  parent: parent.id,
  // One reflected question, so that the fewest are excluded from verification.
  failures: failures.slice(0, 1),
  critique: "",
  candidates: Arr.makeBy(count, (index) => ({ text: `candidate ${step}.${round}.${index}`, rationale: "" })),
  rejected: [],
  ...(lesson === undefined ? {} : { notes: lesson.read(`<ins_1>way ${step}.${round}</ins_1>`).notes })
})

const verified = ({ candidates, parent, questions, round, step }: Verify): RunEvent => ({
  _tag: "CandidatesVerified",
  step,
  round,
  questions,
  candidates: candidates.map(() => questions.map(() => 1)),
  parent: parent === null ? null : questions.map(() => 0),
  rollouts: (candidates.length + (parent === null ? 0 : 1)) * questions.length,
  tokens: 0
})

/** One group for each question, up to the number that exist. */
const heldOut = (id: Instruction.InstructionId, asked: number, there: number): ReadonlyArray<Group.Group> =>
  Array.from({ length: Math.min(asked, there) }, () => group(id, heldOutQuestion, heldOutTrajectory, [0]))

/** Rewards of a group by its instruction's position in order of creation: all are failures, each a little better than the last. */
const rewardsOf = (state: RunState.RunState) => {
  const known = new Map(
    state.instructions.map(({ id }, place) => [id, [0.3 + (0.1 * place) / (place + 1)] as const] as const)
  )
  return (id: Instruction.InstructionId): Group.Group["rewards"] => Invariant.get(known, id, "instruction")
}

/** One trajectory for each question: the checks of many new ids would take most of the time. */
const naming = () => {
  const known = new Map<string, Trajectory.TrajectoryId>()
  return (question: string): Trajectory.TrajectoryId => {
    const id = known.get(question) ?? Trajectory.TrajectoryId.make(question)
    known.set(question, id)
    return id
  }
}

const heldOutQuestion = Question.QuestionId.make("held out")
const heldOutTrajectory = Trajectory.TrajectoryId.make("held out")

const group = (
  instructionId: Instruction.InstructionId,
  questionId: Question.QuestionId,
  trajectoryId: Trajectory.TrajectoryId,
  rewards: Group.Group["rewards"]
): Group.Group => ({
  instructionId,
  questionId,
  dataSource: "dry run",
  promptTokens: 0,
  rewards,
  trajectories: [trajectoryId],
  toolCalls: [0],
  responseTokens: [0]
})
