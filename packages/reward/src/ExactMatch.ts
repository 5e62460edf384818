import { PythonText } from "@inspo/domain"

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
  PythonText.split(text.toLowerCase().replace(punctuation, "").replace(articles, " ")).join(" ")

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

/**
 * The best F1 over the golden answers, in [0, 1]: words shared with the normalised prediction, counted as a multiset
 * (SQuAD). A side without words, or one that is just yes or no, only matches its equal (SQuAD 2.0, HotpotQA).
 */
export const f1 = (prediction: string, goldenAnswers: ReadonlyArray<string>): number => {
  const predicted = PythonText.split(normalizeAnswer(prediction))
  return goldenAnswers.reduce(
    (best, golden) => Math.max(best, wordF1(predicted, PythonText.split(normalizeAnswer(golden)))),
    0
  )
}

const punctuation = /[!-/:-@[-`{-~]/gu

// Python's \b knows letters, digits and the underscore of every script as word characters; JavaScript's only ASCII.
const articles = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu

const wordF1 = (predicted: ReadonlyArray<string>, golden: ReadonlyArray<string>): number => {
  if (isIndivisible(predicted) || isIndivisible(golden)) return predicted.join(" ") === golden.join(" ") ? 1 : 0
  const remaining = new Map<string, number>()
  for (const word of golden) remaining.set(word, (remaining.get(word) ?? 0) + 1)
  let shared = 0
  for (const word of predicted) {
    const left = remaining.get(word) ?? 0
    if (left === 0) continue
    remaining.set(word, left - 1)
    shared++
  }
  return (2 * shared) / (predicted.length + golden.length)
}

const isIndivisible = (words: ReadonlyArray<string>): boolean =>
  words.length === 0 || (words.length === 1 && (words[0] === "yes" || words[0] === "no"))
