/** Attempts at questions: their names, seeds and groups. */
import { Group, type Instruction, type Question, RandomStream, Trajectory } from "@inspo/domain"
import type { Episode } from "@inspo/rollout"
import { Array as Arr, Effect, Option, Schema } from "effect"
import type { RunData } from "../../RunData.ts"
import type { Failed } from "../../RunEvent.ts"

/** The stored work of a run does not match its events, settings or data; nothing was changed. */
export class RunMismatch extends Schema.TaggedError<RunMismatch>()("RunMismatch", { reason: Schema.String }) {
  override get message() {
    return `run: ${this.reason}`
  }
}

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
export type Lookup = ReturnType<typeof lookup>

/** `size` attempts at a question; episodes of one `stream` sample with equal random numbers, under any name. */
export const episodes = (
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
export const outcome = Effect.fnUntraced(function* (
  question: Lookup,
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

/** The failures, if any. */
export const failures = (
  trajectories: ReadonlyArray<Trajectory.Trajectory>
): { readonly failed?: typeof Failed.Type } => {
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

/** The tokens of all trajectories. */
export const tokens = (trajectories: ReadonlyArray<Trajectory.Trajectory>): number =>
  trajectories.reduce((total, trajectory) => total + Trajectory.tokens(trajectory), 0)
