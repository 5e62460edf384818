import { type Question, Trajectory } from "@inspo/domain"
import { ExactMatch } from "@inspo/reward"

/** How one question was answered. `em` and `f1` compare the final answer with the golden ones, whatever the reward. */
export interface Outcome {
  readonly questionId: Question.QuestionId
  readonly source: string
  readonly em: number
  readonly f1: number
  readonly reward: number
  readonly toolCalls: number
  readonly turns: number
  readonly responseTokens: number
  readonly finishReason: Trajectory.FinishReason
  /** Why it has no answer, if it failed. */
  readonly failure?: string
}

export const outcome = (
  { dataSource, goldenAnswers, id }: Question.Question,
  { answer, failure, finishReason, responseTokens, reward, toolCalls, turns }: Trajectory.Trajectory
): Outcome => ({
  questionId: id,
  source: dataSource,
  em: answer === null ? 0 : ExactMatch.exactMatch(answer, goldenAnswers),
  f1: answer === null ? 0 : ExactMatch.f1(answer, goldenAnswers),
  reward,
  toolCalls,
  turns,
  responseTokens,
  finishReason,
  ...(failure === undefined ? {} : { failure })
})

/** Outcomes by source, the sources in alphabetical order. */
export const bySource = (
  outcomes: ReadonlyArray<Outcome>
): ReadonlyArray<readonly [source: string, outcomes: ReadonlyArray<Outcome>]> =>
  [...Map.groupBy(outcomes, ({ source }) => source)].toSorted(([a], [b]) => (a < b ? -1 : 1))

/** The outcomes that depend on the agent: not those of trajectories that a tool or the reward failed. */
export const valid = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<Outcome> =>
  outcomes.filter((one) => !Trajectory.isFailed(one))
