import { AnswerExtraction, ExactMatch } from "@inspo/reward"
import { Arithmetic } from "@inspo/rollout"
import * as Result from "effect/Result"

/** A measure of a text without tags and its golden answers, in [0, 1]. */
export type Measure = keyof typeof measures

export const measures = {
  /** The share of a golden answer's parts, between commas, that are at the right position in the first line. */
  parts: (text: string, goldenAnswers: ReadonlyArray<string>): number => {
    const written = partsOf(text.trim().split("\n")[0] ?? "")
    return Math.max(0, ...goldenAnswers.map((golden) => inPlace(written, partsOf(golden))))
  },
  /** Whether the result of the first calculation with two numbers, or the last number, is a golden answer. */
  calculated: (text: string, goldenAnswers: ReadonlyArray<string>): number => {
    const plain = text.replaceAll(",", "")
    const [, left, sign = "", right] = /(\d+(?:\.\d+)?) ?([-+*/×x÷−]) ?(\d+(?:\.\d+)?)/u.exec(plain) ?? []
    const worked = left === undefined ? [] : [Arithmetic.evaluate(`${left} ${signs.get(sign) ?? sign} ${right}`)]
    const found = [
      ...worked.flatMap((result) => (Result.isSuccess(result) ? [result.success] : [])),
      ...(plain.match(/-?\d+(?:\.\d+)?/gu) ?? []).slice(-1)
    ]
    return found.some((one) => goldenAnswers.some((golden) => Number(golden) === Number(one))) ? 1 : 0
  },
  /** Whether the text begins with "Dear" and a golden answer, the name, and contains the word "birthday" after it. */
  letter: (text: string, goldenAnswers: ReadonlyArray<string>): number => {
    const [, name, rest = ""] = /^Dear ([\p{L}\p{M}\p{N}]+)(?![\p{L}\p{M}\p{N}])([^]*)$/u.exec(text.trim()) ?? []
    return goldenAnswers.some((golden) => golden === name) &&
      /(?<![\p{L}\p{M}\p{N}])birthday(?![\p{L}\p{M}\p{N}])/iu.test(rest)
      ? 1
      : 0
  }
}

/** Operators that the calculator writes with another sign. */
const signs = new Map([
  ["×", "*"],
  ["x", "*"],
  ["÷", "/"],
  ["−", "-"]
])

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

const partsOf = (line: string): ReadonlyArray<string> => line.split(",").map((part) => ExactMatch.normalizeAnswer(part))

const inPlace = (written: ReadonlyArray<string>, golden: ReadonlyArray<string>): number =>
  golden.filter((part, at) => written[at] === part).length / Math.max(golden.length, written.length)
