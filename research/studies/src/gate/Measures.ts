import { AnswerExtraction } from "@inspo/reward"

/** Whether a text begins with "Dear" and a golden answer, the name, and contains the word "birthday" after it: 1 or 0. */
export const letter = (text: string, goldenAnswers: ReadonlyArray<string>): number => {
  const [, name, rest = ""] = /^Dear ([\p{L}\p{M}\p{N}]+)(?![\p{L}\p{M}\p{N}])([^]*)$/u.exec(text.trim()) ?? []
  return goldenAnswers.some((golden) => golden === name) &&
    /(?<![\p{L}\p{M}\p{N}])birthday(?![\p{L}\p{M}\p{N}])/iu.test(rest)
    ? 1
    : 0
}

/**
 * The answer of a policy: the text between its answer tags, or else everything it wrote outside observations, without the
 * markers of a chat template and calculated expressions.
 */
export const answered = (response: string, answer: string | null): string =>
  answer ??
  AnswerExtraction.ownTexts(response)
    .join("\n")
    .replaceAll(/<calculate>[^]*?<\/calculate>|<\|[^|<>]*\|>/gu, "")
    .trim()
