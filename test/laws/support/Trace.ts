/** Plays the loop on scripted rewards and tells what it decided, in words that can be checked by eye. */
import {
  apply,
  type Command,
  makeDecisionContext,
  next,
  type Algorithm,
  type RunEvent,
  RunState,
  Strategies
} from "@inspo/coevolution"
import { type Group, Instruction, Question, Trajectory } from "@inspo/domain"
import { Array as Arr } from "effect"

/** Rewards by instruction: one list per group. */
type Rewards = Readonly<Record<string, ReadonlyArray<Arr.NonEmptyReadonlyArray<number>>>>

export interface Script {
  /**
   * Rewards of each step, whatever was assigned. Their groups meet the questions q0, q1, … in turn, or, if they are shared, those
   * of each instruction do.
   */
  readonly rewards: ReadonlyArray<Rewards>
  /** What the proposer writes, round after round; as many texts as asked for when left out. */
  readonly proposals?: ReadonlyArray<ReadonlyArray<string>>
  /** Reward on every verification question, of each text that is tried and of the parent when it is run again; else 1. */
  readonly scores?: Readonly<Record<string, number>>
  readonly shared?: boolean
}

/** A step as it was planned and what came of it. */
export interface Step {
  /** Probabilities (Eq. 4) that the step was planned with. */
  readonly p: Readonly<Record<string, number>>
  /** Values (Eq. 6) after its rewards. */
  readonly w: Readonly<Record<string, number>>
  /**
   * What was decided after them: `prune i2 i1` (worst first), `propose for i0`, `verify 2 on 4` (candidates, questions),
   * `enter A B` (best first), `2 short`, `skip`.
   */
  readonly did: ReadonlyArray<string>
  /** Failures that the proposer was shown, in the order of their names. */
  readonly shown: ReadonlyArray<string>
  /** Who is alive in the end. */
  readonly alive: string
}

export interface Trace {
  readonly steps: ReadonlyArray<Step>
  readonly state: RunState.RunState
  /** I* of a run that ended. */
  readonly best: string | null
}

/** Runs as many steps as there are rewards, starting from `size` instructions `i0` (the seed), `i1`, …. */
export const play = (algorithm: Algorithm, script: Script): Trace => {
  const context = {
    ...makeDecisionContext(Strategies.deciding(algorithm), { train: [] }),
    questions: trainingQuestions
  }
  const proposals = script.proposals === undefined ? undefined : [...script.proposals]
  const steps: Array<Step> = []
  let commands = 0
  let state = apply(context, RunState.unstarted, {
    _tag: "RunStarted",
    algorithm,
    strategies: Strategies.identities(context.strategies),
    engine: "scripted",
    tokenizer: "scripted",
    data: "scripted",
    search: "passages",
    code: "test"
  })
  while (RunState.isRunning(state)) {
    const command = next(context, state)
    if (state.phase._tag === "Plan" && steps.length === script.rewards.length) break
    if (++commands > 10_000) throw new Error("the run does not end")
    const event = answer(command, script, proposals)
    if (event._tag === "StepPlanned") steps.push({ p: event.probabilities, w: {}, did: [], shown: [], alive: "" })
    state = apply(context, state, event)
    const step = steps.pop()
    if (step === undefined) continue
    const { members } = state.population
    steps.push({
      ...step,
      w:
        event._tag === "RolloutsCollected"
          ? Object.fromEntries(
              context.strategies.valuation.values(state.population).map(({ id, value }) => [id, value])
            )
          : step.w,
      did: [...step.did, ...decisions(event)],
      shown: event._tag === "CandidatesProposed" ? event.failures.toSorted() : step.shown,
      alive: members.map(({ instruction }) => instruction.id).join(" ")
    })
  }
  return { steps, state, best: state.phase._tag === "Finished" ? state.phase.best : null }
}

const decisions = (event: RunEvent): ReadonlyArray<string> => {
  switch (event._tag) {
    case "Pruned":
      return [["prune", ...event.pruned.map(({ id }) => id)].join(" ")]
    case "CandidatesProposed":
      return [`propose for ${event.parent}`]
    case "CandidatesVerified":
      return [`verify ${event.candidates.filter((scores) => scores.length > 0).length} on ${event.questions.length}`]
    case "PopulationRefilled":
      return [
        ["enter", ...event.accepted.map(({ instruction }) => instruction.text)].join(" "),
        ...(event.shortfall > 0 ? [`${event.shortfall} short`] : [])
      ]
    case "EvolutionSkipped":
      return ["skip"]
    default:
      return []
  }
}

const trainingQuestions: ReadonlyArray<Strategies.QuestionRef> = Array.from({ length: 8 }, (_, index) => ({
  id: Question.QuestionId.make(`q${index}`),
  dataSource: "nq"
}))

const answer = (command: Command, script: Script, proposals?: Array<ReadonlyArray<string>>): RunEvent => {
  switch (command._tag) {
    case "Record":
      return command.event
    case "Initialise":
      return { _tag: "PopulationInitialised", instructions: instructions(command.size) }
    case "Checkpoint":
      return {
        _tag: "CheckpointSaved",
        step: command.step,
        checkpoint: { uri: `memory:${command.step}`, hash: "" },
        removed: []
      }
    case "Collect":
      return {
        _tag: "RolloutsCollected",
        step: command.plan.step,
        groups: groups(command.plan.step, script.rewards[command.plan.step - 1] ?? {}, script.shared).filter(
          ({ instructionId }) => command.instructions.some(({ id }) => id === instructionId)
        )
      }
    case "PlanTraining":
      return { _tag: "TrainingPlanned", step: command.step, batchHash: "", miniBatches: 0 }
    case "Train":
      return { _tag: "StepTrained", step: command.step, metrics: [] }
    case "Propose":
      return {
        _tag: "CandidatesProposed",
        step: command.step,
        round: command.round,
        parent: command.parent.id,
        failures: command.failures,
        critique: "",
        candidates: (proposals === undefined
          ? Array.from({ length: command.count }, (_, index) => `${command.step}.${index}`)
          : (proposals.shift() ?? [])
        ).map((text) => ({ text, rationale: "" })),
        rejected: []
      }
    case "Verify": {
      const score = (text: string) => command.questions.map(() => script.scores?.[text] ?? 1)
      return {
        _tag: "CandidatesVerified",
        step: command.step,
        round: command.round,
        questions: command.questions,
        candidates: command.candidates.map(({ text }) => score(text)),
        parent: command.parent === null ? null : score("parent"),
        rollouts: 0,
        tokens: 0
      }
    }
    case "Validate":
      return {
        _tag: "Validated",
        step: command.step,
        instruction: command.instruction.id,
        groups: groups(command.step, { [command.instruction.id]: [[1]] })
      }
    case "Evaluate":
      return { _tag: "Evaluated", policy: command.policy, instruction: command.instruction.id, groups: [] }
  }
}

export const instructions = (size: number): Arr.NonEmptyReadonlyArray<Instruction.Instruction> =>
  Arr.makeBy(size, (index) => ({
    id: RunState.instructionId(index),
    text: index === 0 ? "seed" : `variant ${index}`,
    generation: 0,
    parent: index === 0 ? null : RunState.instructionId(0),
    origin: index === 0 ? "seed" : "variant",
    bornAt: 0
  }))

const groups = (step: number, rewards: Rewards, isShared = false): ReadonlyArray<Group.Group> =>
  Object.entries(rewards)
    .flatMap(([id, lists]) => lists.map((list, place) => ({ id, list, place })))
    .map(({ id, list, place }, index) => ({
      instructionId: Instruction.InstructionId.make(id),
      questionId: Question.QuestionId.make(`q${isShared ? place : index}`),
      dataSource: "nq",
      promptTokens: 1,
      rewards: list,
      trajectories: Arr.map(list, (_, sample) => Trajectory.TrajectoryId.make(`train/${step}/${index}/${sample}`)),
      toolCalls: Arr.map(list, () => 1),
      responseTokens: Arr.map(list, () => 1)
    }))
