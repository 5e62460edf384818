import { exactMatch, normalizeAnswer } from "./ExactMatch.ts"
import { PythonText } from "@inspo/domain"
import * as ResponseFormat from "./ResponseFormat.ts"

/**
 * The content of the last answer pair of a solution, prompt and response in one text; null below two pairs, since
 * Search-R1 takes one for the example in its prompt. The wording of the instruction, the environment's messages and the
 * retrieved passages thus have a say in what the answer is.
 */
export const extractSolution = (solution: string): string | null => lastPair(solution, 2)

/** Search-R1's exact match (`qa_em`): 1, or `formatScore` for a wrong answer, or 0 without an answer. */
export const scoreExactMatch = (solution: string, goldenAnswers: ReadonlyArray<string>, formatScore = 0): number => {
  const answer = extractSolution(solution)
  return answer === null ? 0 : exactMatch(answer, goldenAnswers) === 1 ? 1 : formatScore
}

/** Search-R1's format-aware exact match (`qa_em_format`). */
export const scoreFormat = (
  solution: string,
  goldenAnswers: ReadonlyArray<string>,
  scores: ResponseFormat.FormatScores
): number => {
  const answer = extractSolution(solution)
  const isCorrect = answer === null ? null : exactMatch(answer, goldenAnswers) === 1
  const isRetrieved = isRetrievalCorrect(solution, goldenAnswers)
  return ResponseFormat.score({ isCorrect, isWellFormed: isValidSequence(solution), isRetrieved }, scores)
}

/** Whether what follows the first ChatML assistant marker is well-formed; false without a marker. */
export const isValidSequence = (solution: string): boolean => {
  const start = solution.indexOf(assistantMarker)
  return start >= 0 && ResponseFormat.isWellFormed(solution.slice(start + assistantMarker.length))
}

/** Whether a golden answer is a part of an information block, both normalised. Blocks in the prompt count. */
export const isRetrievalCorrect = (solution: string, goldenAnswers: ReadonlyArray<string>): boolean => {
  const blocks = pairs(solution, "information").map(normalizeAnswer)
  return goldenAnswers.map(normalizeAnswer).some((golden) => blocks.some((block) => block.includes(golden)))
}

/** The extraction of verl's port: the last pair of the response, observations included. */
export const extractVerl = (response: string): string | null => lastPair(response, 1)

/** What verl's port multiplies a score by: 0.25 beyond ten opening or closing answer tags in the response, else 1. */
export const verlFactor = (response: string): number =>
  response.split("<answer>").length > 11 || response.split("</answer>").length > 11 ? 0.25 : 1

const assistantMarker = "<|im_start|>assistant"

const lastPair = (text: string, minimum: number): string | null => {
  const found = pairs(text, "answer")
  const content = found.length < minimum ? undefined : found.at(-1)
  return content === undefined ? null : PythonText.strip(content)
}

/** The contents of `<name>(.*?)</name>`, found in linear time. */
const pairs = (text: string, name: string): ReadonlyArray<string> => {
  const [opening, closing] = [`<${name}>`, `</${name}>`]
  const found: Array<string> = []
  for (let from = 0; ;) {
    const start = text.indexOf(opening, from)
    const end = start < 0 ? -1 : text.indexOf(closing, start + opening.length)
    if (end < 0) return found
    found.push(text.slice(start + opening.length, end))
    from = end + closing.length
  }
}
