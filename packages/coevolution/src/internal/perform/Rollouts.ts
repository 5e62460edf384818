/** Rollouts: those of a step, of a verification, and of held-out questions; with their names, seeds and groups. */
import { Group, type Instruction, Invariant, type Question, RandomStream, Trajectory } from "@inspo/domain"
import type { Episode } from "@inspo/rollout"
import { Verification } from "@inspo/verification"
import { Array as Arr, Effect, Option } from "effect"
import type * as Command from "../../Command.ts"
import type { Algorithm } from "../../Algorithm.ts"
import { type RunData, RunMismatch } from "../../RunData.ts"
import type { Evaluated, Failed, RolloutsCollected, RoundCollected, Validated } from "../../RunEvent.ts"
import { candidateInstruction } from "../../RunState.ts"
import * as Schedule from "../../Schedule.ts"
import { NothingWritten, type TrajectoryStore } from "../../TrajectoryStore.ts"

/** Looks questions up by their ids, in all splits. */
export const lookup = (data: RunData) => {
  const questions = new Map(
    [...data.train, ...data.validation, ...data.test].map((question) => [question.id, question])
  )
  return (id: Question.QuestionId): Effect.Effect<Question.Question, RunMismatch> =>
    Effect.fromOption(Option.fromNullishOr(questions.get(id))).pipe(
      Effect.mapError(() => new RunMismatch({ reason: `question ${id} of the journal is not in the data` }))
    )
}

export const make = (algorithm: Algorithm, data: RunData, store: TrajectoryStore) => {
  const asking = { algorithm, data, store, question: lookup(data) }
  return { collect: collecting(asking), verify: verifying(asking), ...answering(asking) }
}

interface Asking {
  readonly algorithm: Algorithm
  readonly data: RunData
  readonly store: TrajectoryStore
  readonly question: ReturnType<typeof lookup>
}

/** The rollouts of a step: sampled `now`, or `earlier` and on record, because the engine has other weights by now. */
const collecting = ({ algorithm, data, question, store }: Asking) =>
  Effect.fn("Perform.collect")(function* (
    { instructions, plan, round }: Omit<Command.Collect, "_tag">,
    sampled: "now" | "earlier"
  ) {
    const byId = new Map(instructions.map((instruction) => [instruction.id, instruction]))
    const { first = 0, further = null, number = 0 } = round ?? {}
    const { assignment, questions, samples } = further ?? plan
    const planned = yield* Effect.forEach(
      Invariant.zip(questions, assignment, "questions and instructions"),
      ([questionId, id], index) =>
        Effect.gen(function* () {
          const instruction = byId.get(id)
          if (instruction === undefined)
            return yield* new RunMismatch({
              reason: `instruction ${id} is planned for step ${plan.step} but not in the population`
            })
          const name = ["train", plan.step, first + index]
          const attempts = episodesOf(
            algorithm.randomSeed,
            name,
            instruction,
            yield* question(questionId),
            samples?.[index] ?? algorithm.rollout.groupSize
          )
          const demonstration = data.demonstrations?.get(questionId)
          return attempts.map((attempt, member) => ({
            ...attempt,
            member,
            ...(demonstration === undefined ? {} : { demonstration })
          }))
        })
    )
    const episodes = planned.flat()
    const trajectories =
      sampled === "now"
        ? yield* store.collect("train", plan.step, episodes)
        : yield* store.read(episodes.map(({ id }) => id))
    const groups = yield* outcome(question, trajectories)
    const isWritten = ({ responseTokens }: Trajectory.Trajectory) => responseTokens > 0
    if (plan.step <= 1 && round === undefined && !trajectories.some(isWritten) && groups.groups.length > 1)
      return yield* new NothingWritten({
        rollouts: trajectories.length,
        maxPromptTokens: algorithm.rollout.maxPromptTokens
      })
    const event: RolloutsCollected | RoundCollected =
      round === undefined
        ? { _tag: "RolloutsCollected", step: plan.step, ...groups }
        : { _tag: "RoundCollected", step: plan.step, round: number, ...groups }
    return event
  })

/** The verification questions with the candidates and, if needed, the parent. */
const verifying = ({ algorithm, question, store }: Asking) =>
  Effect.fn("Perform.verify")(function* (command: Command.Verify) {
    const { candidates, parent, round, step } = command
    const asked = yield* Effect.forEach(command.questions, question)
    const arms = [
      ...candidates.map((candidate, place) => ({
        name: `candidate-${place}`,
        instruction: candidateInstruction(command, candidate, place)
      })),
      ...(parent === null ? [] : [{ name: "parent", instruction: parent }])
    ]
    const episodes = arms.flatMap(({ instruction, name }) =>
      asked.flatMap((one, place) => {
        // Common random numbers: on a question, the arms differ only in their instruction.
        const stream = ["verify", step, round, place]
        return episodesOf(algorithm.randomSeed, ["verify", step, round, name, place], instruction, one, 1, stream)
      })
    )
    const trajectories = yield* store.collect("verification", step, episodes)
    const paired = Verification.paired(
      command.questions,
      arms.map((_, arm) => (_, index) => {
        const trajectory = Invariant.at(trajectories, arm * asked.length + index, "trajectory")
        return Trajectory.isFailed(trajectory) ? null : trajectory.reward
      })
    )
    return {
      _tag: "CandidatesVerified",
      step,
      round,
      questions: paired.questions,
      candidates: paired.scores.slice(0, candidates.length),
      parent: parent === null ? null : Invariant.at(paired.scores, candidates.length, "scores of the parent"),
      rollouts: trajectories.length,
      tokens: tokens(trajectories),
      ...failures(trajectories)
    } as const
  })

/** Held-out questions, answered once each: those of a validation, and the cells of the final table. */
const answering = ({ algorithm, data, question, store }: Asking) => {
  const answer = Effect.fnUntraced(function* (
    purpose: "validation" | "evaluation",
    step: number,
    questions: ReadonlyArray<Question.Question>,
    instruction: Instruction.Instruction,
    name: RandomStream.StreamPath
  ) {
    const episodes = questions.flatMap((one, index) =>
      episodesOf(algorithm.randomSeed, [...name, index], instruction, one, 1)
    )
    return yield* outcome(question, yield* store.collect(purpose, step, episodes))
  })

  const validate = Effect.fn("Perform.validate")(function* ({ instruction, step }: Command.Validate) {
    const questions = Arr.take(data.validation, Schedule.validationQuestions)
    const answers = yield* answer("validation", step, questions, instruction, ["validate", step])
    const event: Validated = { _tag: "Validated", step, instruction: instruction.id, ...answers }
    return event
  })

  const evaluate = Effect.fn("Perform.evaluate")(function* ({ instruction, policy }: Command.Evaluate, step: number) {
    const questions = Arr.take(data.test, algorithm.evaluation.questions)
    const answers = yield* answer("evaluation", step, questions, instruction, ["evaluate", policy, instruction.id])
    const event: Evaluated = { _tag: "Evaluated", policy, instruction: instruction.id, ...answers }
    return event
  })

  return { validate, evaluate }
}

/** `size` attempts at a question; episodes of one `stream` sample with equal random numbers, under any name. */
const episodesOf = (
  seed: number,
  name: RandomStream.StreamPath,
  instruction: Instruction.Instruction,
  asked: Question.Question,
  size: number,
  stream = name
): ReadonlyArray<Episode> =>
  Arr.makeBy(size, (sample) => ({
    id: Trajectory.TrajectoryId.make([...name, sample].join("/")),
    instruction,
    question: asked,
    seed: RandomStream.streamSeed(seed, ["episode", ...stream, sample])
  }))

/** The groups, each of one instruction and question, without failed attempts; and the failures. */
const outcome = Effect.fnUntraced(function* (
  question: ReturnType<typeof lookup>,
  trajectories: ReadonlyArray<Trajectory.Trajectory>
) {
  const groups = yield* Effect.forEach(byPair(trajectories), (members) =>
    Effect.map(question(Arr.headNonEmpty(members).questionId), ({ dataSource }) =>
      Group.survivors(dataSource, Arr.map(members, Trajectory.summary))
    )
  )
  return { groups: Arr.getSomes(groups), ...failures(trajectories) }
})

const byPair = (trajectories: ReadonlyArray<Trajectory.Trajectory>) =>
  Object.values(
    Arr.groupBy(trajectories, ({ instructionId, questionId }) => JSON.stringify([instructionId, questionId]))
  )

const failures = (trajectories: ReadonlyArray<Trajectory.Trajectory>): { readonly failed?: typeof Failed.Type } => {
  const failed = trajectories.filter(Trajectory.isFailed)
  return Arr.isReadonlyArrayNonEmpty(failed)
    ? {
        failed: {
          trajectories: Arr.map(failed, ({ id }) => id),
          tokens: tokens(failed),
          ...(failed[0].failure === undefined ? {} : { reason: failed[0].failure })
        }
      }
    : {}
}

const tokens = (trajectories: ReadonlyArray<Trajectory.Trajectory>): number =>
  trajectories.reduce((total, trajectory) => total + Trajectory.tokens(trajectory), 0)
