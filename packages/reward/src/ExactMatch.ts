import { split } from "./internal/python.ts"

/**
 * The answer normalisation of SQuAD as Search-R1 applies it: lower case, ASCII punctuation deleted, the words a, an and
 * the replaced by a space, white space collapsed; in that order. Word boundaries and white space follow Python, so the
 * result is the same as the reference implementation's for every string.
 *
 * @example
 * ```ts
 * import { ExactMatch } from "@inspo/reward"
 *
 * ExactMatch.normalizeAnswer("The  Ostrel-Bay.") // "ostrelbay"
 * ```
 */
export const normalizeAnswer = (text: string): string =>
  split(text.toLowerCase().replace(punctuation, "").replace(articles, " ")).join(" ")

/** 1 when the prediction equals one of the golden answers after normalisation, else 0; 0 without golden answers. */
export const exactMatch = (prediction: string, goldenAnswers: ReadonlyArray<string>): 0 | 1 => {
  const normalized = normalizeAnswer(prediction)
  return goldenAnswers.some((golden) => normalizeAnswer(golden) === normalized) ? 1 : 0
}

/** 1 when a golden answer is a part of the prediction, both normalised, else 0. */
export const substringExactMatch = (prediction: string, goldenAnswers: ReadonlyArray<string>): 0 | 1 => {
  const normalized = normalizeAnswer(prediction)
  return goldenAnswers.some((golden) => normalized.includes(normalizeAnswer(golden))) ? 1 : 0
}

/** The best F1 over the golden answers, in [0, 1]: words shared with the normalised prediction, counted as a multiset. */
export const f1 = (prediction: string, goldenAnswers: ReadonlyArray<string>): number => {
  const predicted = split(normalizeAnswer(prediction))
  return goldenAnswers.reduce((best, golden) => Math.max(best, wordF1(predicted, split(normalizeAnswer(golden)))), 0)
}

const punctuation = /[!-/:-@[-`{-~]/gu

// Python's \b knows letters, digits and the underscore of every script as word characters; JavaScript's only ASCII.
const articles = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu

const wordF1 = (predicted: ReadonlyArray<string>, golden: ReadonlyArray<string>): number => {
  const remaining = [...golden]
  const shared = predicted.filter((word) => {
    const index = remaining.indexOf(word)
    if (index >= 0) remaining.splice(index, 1)
    return index >= 0
  }).length
  return shared === 0 ? 0 : (2 * shared) / (predicted.length + golden.length)
}
