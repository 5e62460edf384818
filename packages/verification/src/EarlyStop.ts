/** When the result over all questions is certain enough before all are asked. */
import { assertCount, refuse } from "@inspo/domain/InvalidInput"

/** The total number of questions, at least those asked; and the allowed probability of a wrong result, in (0, 1). */
export interface Options {
  readonly questions: number
  readonly risk: number
}

/** `ahead` or `behind` as the final result; null while it is open. */
export type Outcome = "ahead" | "behind" | null

/**
 * Whether the sum of all differences will be at least 0 (`ahead`) or below it (`behind`), judged by those of the questions
 * asked so far, each in [-1, 1]. Throws `InvalidInput` on differences and options out of range.
 *
 * Let S be the sum of the k differences seen, n the number of all, and V the sum of their squares. The result is certain
 * if the questions left cannot change it, and certain enough if |S| reaches
 *
 *     b = √(n σ² ln(1 / risk) / 2),  σ² = (V + 1) / (k + 1).
 *
 * Guarantee: the questions come in random order, so the path of S is a bridge from 0 to the sum of all. A path that ends on
 * the other side of 0 reaches b on its way with probability at most exp(-2 b² / (n σ²)) = risk, by the reflection
 * principle, however often it is tested. It is exact for differences of -1, 0 and 1 with σ² known and holds for
 * large n with σ² estimated; the one added to V and k keeps the first few questions from deciding. So of the candidates that
 * would pass on all questions, at most a share of `risk` is stopped as behind, and vice versa.
 *
 * @example
 * ```ts
 * import { EarlyStop } from "@inspo/verification"
 *
 * EarlyStop.outcome(Array(40).fill(-1), { questions: 200, risk: 0.05 }) // "behind"
 * ```
 */
export const outcome = (differences: ReadonlyArray<number>, { questions, risk }: Options): Outcome => {
  const seen = differences.length
  assertCount("EarlyStop", "questions", questions, seen)
  if (!(risk > 0 && risk < 1))
    refuse({ where: "EarlyStop", field: "risk", value: risk, expected: "a probability above 0 and below 1" })
  for (const [index, value] of differences.entries())
    if (!(value >= -1 && value <= 1))
      refuse({ where: "EarlyStop", field: `differences[${index}]`, value, expected: "a difference in [-1, 1]" })
  const sum = differences.reduce((total, difference) => total + difference, 0)
  const left = questions - seen
  if (sum - left >= 0) return "ahead"
  if (sum + left < 0) return "behind"
  const squares = differences.reduce((total, difference) => total + difference * difference, 0)
  const variance = (squares + 1) / (seen + 1)
  const bound = Math.sqrt((questions * variance * Math.log(1 / risk)) / 2)
  if (sum >= bound) return "ahead"
  return sum <= -bound ? "behind" : null
}
