/** What rules of credit read of the turns of a trajectory. */
import type { Question, Trajectory } from "@inspo/domain"
import type { Credits } from "@inspo/policy-gradient"
import { AnswerExtraction, ExactMatch, type FindingOfJudge } from "@inspo/reward"

/**
 * Each turn with the state that it acted in, which is what the turn before it did, normalised; with the reward, which the last
 * turn earned; with whether it retrieved a golden answer, or null where it retrieved nothing; with the score of the answer that was asked for
 * after it, or of its own; and with what was found of it.
 */
export const turnsOf = (
  {
    reward,
    transcript = []
  }: Partial<Pick<Trajectory.Trajectory, "transcript">> & Pick<Trajectory.Trajectory, "reward">,
  { goldenAnswers }: Pick<Question.Question, "goldenAnswers">,
  found: FindingOfJudge = {}
): ReadonlyArray<Credits.Turn> =>
  transcript.map(({ observation }, index) => {
    const before = transcript[index - 1]?.action
    const next = transcript[index + 1]
    const score = next === undefined ? reward : scoreOf(next.asked, goldenAnswers)
    return {
      state: before === undefined ? "" : `${before.kind} ${ExactMatch.normalizeAnswer(before.content)}`,
      reward: index === transcript.length - 1 ? reward : 0,
      valuable: observation === null ? null : goldenAnswers.some((golden) => shows(observation, golden)),
      ...(score === undefined ? {} : { score }),
      ...found.turns?.[index]
    }
  })

/** Whether an observation has the words of an answer, in order. Its tags are no words of it. */
export const shows = (observation: string, answer: string): boolean =>
  words(observation.replaceAll(/<\/?information>/gu, " ")).includes(words(answer))

const words = (text: string): string => ` ${ExactMatch.normalizeAnswer(text)} `

const scoreOf = (asked: string | undefined, goldenAnswers: ReadonlyArray<string>): number | undefined =>
  asked === undefined ? undefined : ExactMatch.exactMatch(AnswerExtraction.extractAnswer(asked) ?? "", goldenAnswers)
