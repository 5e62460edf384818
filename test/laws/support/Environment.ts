/** A world that answers the commands of a run at will, and counts what it was asked for. */
import { type Command, type Algorithm, type RunEvent, RunState, type Strategies } from "@inspo/coevolution"
import { type Group, type Instruction, Question, Trajectory } from "@inspo/domain"
import { Array as Arr } from "effect"

/** What the world does next, in turn and over and over: all the freedom a run leaves it. */
export interface Luck {
  /** Rewards of trajectories. */
  readonly rewards: Arr.NonEmptyReadonlyArray<number>
  /** How many texts the proposer falls short of those asked for. */
  readonly missing: Arr.NonEmptyReadonlyArray<number>
  /** Whether only every other instruction is rewarded, so that evidence builds up. */
  readonly isTilted: boolean
  /** Which trajectories their environment fails. */
  readonly failing: Arr.NonEmptyReadonlyArray<boolean>
}

export interface Counted {
  readonly spent: {
    readonly rollouts: Record<Purpose, number>
    readonly tokens: Record<Purpose, number>
  }
  readonly failed: Record<Purpose, number>
}

type Purpose = keyof RunState.Spent["rollouts"]

export interface Environment {
  /** Does what a command says. */
  readonly perform: (command: Command, luck: Luck) => RunEvent
  /** Trajectories and tokens it was asked for, and trajectories it failed. */
  readonly counted: Counted
}

export const make = (algorithm: Algorithm, questions: ReadonlyArray<Strategies.QuestionRef>): Environment => {
  const counted: Counted = {
    spent: {
      rollouts: { train: 0, verification: 0, evaluation: 0 },
      tokens: { train: 0, verification: 0, evaluation: 0 }
    },
    failed: { train: 0, verification: 0, evaluation: 0 }
  }
  const sourceOf = new Map(questions.map(({ dataSource, id }) => [id, dataSource]))
  let drawn = 0
  const draw = <A>(from: Arr.NonEmptyReadonlyArray<A>): A => from[drawn++ % from.length] ?? from[0]
  let texts = 0
  const unseen = (name: string, count: number) =>
    Array.from({ length: count }, (_, index) => Question.QuestionId.make(`${name} ${index}`))
  const validationQuestions = unseen("validation", 2)
  const testQuestions = unseen("test", algorithm.evaluation.questions)

  const roll = (purpose: Purpose, id: string, luck: Luck): Attempt => {
    const failed = draw(luck.failing)
    const tokens = promptTokens + 1 + (drawn % 5)
    counted.spent.rollouts[purpose] += 1
    counted.spent.tokens[purpose] += tokens
    if (failed) counted.failed[purpose] += 1
    return { id: Trajectory.TrajectoryId.make(id), failed, reward: draw(luck.rewards), tokens }
  }

  /** Groups of so many attempts at each pair, without those that failed. */
  const rollOut = (
    purpose: "train" | "evaluation",
    name: string,
    pairs: ReadonlyArray<readonly [Instruction.InstructionId, Question.QuestionId]>,
    size: (index: number) => number,
    luck: Luck
  ) => {
    const attempts = pairs.map((_, index) =>
      Array.from({ length: size(index) }, (_, sample) => {
        const attempt = roll(purpose, `${name}/${index}/${sample}`, luck)
        const isOdd = /[13579]$/u.test(pairs[index]?.[0] ?? "")
        return luck.isTilted ? { ...attempt, reward: isOdd ? 1 : 0 } : attempt
      })
    )
    const groups = Arr.zip(pairs, attempts).flatMap(
      ([[instructionId, questionId], all]): ReadonlyArray<Group.Group> => {
        const survivors = all.filter(({ failed }) => !failed)
        if (!Arr.isArrayNonEmpty(survivors)) return []
        return [
          {
            instructionId,
            questionId,
            dataSource: sourceOf.get(questionId) ?? "test",
            promptTokens,
            rewards: Arr.map(survivors, ({ reward }) => reward),
            trajectories: Arr.map(survivors, ({ id }) => id),
            toolCalls: Arr.map(survivors, () => 1),
            responseTokens: Arr.map(survivors, ({ tokens }) => tokens - promptTokens)
          }
        ]
      }
    )
    return { groups, ...failures(attempts.flat()) }
  }

  const perform = (command: Command, luck: Luck): RunEvent => {
    switch (command._tag) {
      case "Record":
        return command.event
      case "Initialise":
        return { _tag: "PopulationInitialised", instructions: firstPopulation(command, draw(luck.missing)) }
      case "Checkpoint":
        return {
          _tag: "CheckpointSaved",
          step: command.step,
          checkpoint: { uri: `memory:${command.step}`, hash: String(command.step) },
          removed: command.removed.map(({ step }) => step)
        }
      case "Collect": {
        const { assignment, questions, samples, step } = command.plan
        const pairs = Arr.zip(assignment, questions)
        return {
          _tag: "RolloutsCollected",
          step,
          ...rollOut("train", `train/${step}`, pairs, (index) => samples?.[index] ?? algorithm.rollout.groupSize, luck)
        }
      }
      case "PlanTraining":
        return { _tag: "TrainingPlanned", step: command.step, batchHash: `batch ${command.step}`, miniBatches: 1 }
      case "Train":
        return {
          _tag: "StepTrained",
          step: command.step,
          metrics: [{ loss: -0.5, kl: 0, clipFraction: 0.25, gradientNorm: 1, tokens: command.groups.length }]
        }
      case "Propose": {
        const missing = Math.min(command.count, draw(luck.missing))
        return {
          _tag: "CandidatesProposed",
          step: command.step,
          round: command.round,
          parent: command.parent.id,
          failures: command.failures,
          critique: " It never searches.\n",
          candidates: Array.from({ length: command.count - missing }, () => ({
            text: `text ${texts++}`,
            rationale: "to try it"
          })),
          rejected: Array.from({ length: missing }, () => ({ text: "", reason: "empty" }))
        }
      }
      case "Verify": {
        const { candidates, parent, questions, round, step } = command
        const names = [...candidates.map((_, place) => String(place)), ...(parent === null ? [] : ["parent"])]
        const attempts = new Map(
          names.map((name) => [
            name,
            questions.map((_, index) => roll("verification", `verify/${step}/${round}/${name}/${index}/0`, luck))
          ])
        )
        const all = [...attempts.values()].flat()
        const answered = [...questions.keys()].filter((index) =>
          [...attempts.values()].every((own) => own[index]?.failed === false)
        )
        const scores = (name: string) => answered.map((index) => attempts.get(name)?.[index]?.reward ?? 0)
        return {
          _tag: "CandidatesVerified",
          step,
          round,
          questions: questions.filter((_, index) => answered.includes(index)),
          candidates: candidates.map((_, place) => scores(String(place))),
          parent: parent === null ? null : scores("parent"),
          rollouts: all.length,
          tokens: all.reduce((total, { tokens }) => total + tokens, 0),
          ...failures(all)
        }
      }
      case "Validate": {
        const { instruction, step } = command
        const pairs = validationQuestions.map((question) => [instruction.id, question] as const)
        return {
          _tag: "Validated",
          step,
          instruction: instruction.id,
          ...rollOut("evaluation", `validate/${step}`, pairs, () => 1, luck)
        }
      }
      case "Evaluate": {
        const { instruction, policy } = command
        const pairs = testQuestions.map((question) => [instruction.id, question] as const)
        return {
          _tag: "Evaluated",
          policy,
          instruction: instruction.id,
          ...rollOut("evaluation", `evaluate/${policy}/${instruction.id}`, pairs, () => 1, luck)
        }
      }
    }
  }

  return { perform, counted }
}

const promptTokens = 7

interface Attempt {
  readonly id: Trajectory.TrajectoryId
  readonly failed: boolean
  readonly reward: number
  readonly tokens: number
}

const failures = (attempts: ReadonlyArray<Attempt>) => {
  const failed = attempts.filter(({ failed }) => failed)
  return Arr.isArrayNonEmpty(failed)
    ? {
        failed: {
          trajectories: Arr.map(failed, ({ id }) => id),
          tokens: failed.reduce((total, { tokens }) => total + tokens, 0)
        }
      }
    : {}
}

/** The seeds, and variants of the first of them until there are `size`, less those missing. */
const firstPopulation = (
  { seeds, size }: Extract<Command, { readonly _tag: "Initialise" }>,
  missing: number
): Arr.NonEmptyReadonlyArray<Instruction.Instruction> => {
  const first = RunState.instructionId(0)
  const variants = Array.from({ length: Math.max(0, size - seeds.length - missing) }, (_, index) => `variant ${index}`)
  return Arr.map(Arr.appendAll(seeds, variants), (text, index) => ({
    id: RunState.instructionId(index),
    text,
    generation: 0,
    parent: index < seeds.length ? null : first,
    origin: index < seeds.length ? "seed" : "variant",
    bornAt: 0
  }))
}
