import { ownTexts, splitSolution } from "./AnswerExtraction.ts"

/**
 * A finished episode as a reward sees it.
 *
 * - `prompt`: what the policy was given, special tokens included.
 * - `response`: everything after it, the environment's observations included.
 * - `turns`: what the policy itself wrote, turn by turn.
 */
export interface ScoredEpisode {
  readonly question: {
    readonly question: string
    readonly goldenAnswers: ReadonlyArray<string>
  }
  readonly prompt: string
  readonly response: string
  readonly turns: ReadonlyArray<string>
}

/**
 * The attempt of a solution as Search-R1 stores one: prompt and response in one text. See
 * {@link AnswerExtraction.splitSolution} and {@link AnswerExtraction.ownTexts} for how they are distinguished.
 */
export const fromSolution = (question: ScoredEpisode["question"], solution: string): ScoredEpisode => {
  const { prompt, response } = splitSolution(solution)
  return { question, prompt, response, turns: ownTexts(response) }
}
