import { RandomStream } from "@inspo/domain"
import jstat from "jstat"
import { mean, shuffle, sum } from "simple-statistics"
import type { Interval } from "./Interval.ts"

/** The number of `permutations` for the p-value; equal seeds give the same permutations. */
export interface Options {
  readonly permutations: number
  readonly seed: number
}

/**
 * How much treatments differ, compared with chance, over `n` questions, in the unit of a score:
 *
 * - `means`: of each treatment, in order.
 * - `between`: the variance between the treatments' true means, unbiased, so it can be below 0.
 * - `ci95`: its 95 % interval, at least 0; null if the scores of a question differ only by the means of the treatments.
 * - `noise`: the random variance of the mean of one treatment over the `n` questions.
 * - `p`: how often equal treatments would differ as much or more.
 */
export interface Spread {
  readonly n: number
  readonly means: ReadonlyArray<number>
  readonly between: number
  readonly ci95: Interval | null
  readonly noise: number
  readonly p: number
}

/**
 * The variance between treatments of the same questions, such as instructions: `scores[q][t]` is the score of question q with
 * treatment t. There are at least two of each.
 *
 * The variances are those of a two-way layout with random treatments and questions as blocks (Scheffé, 1959): the difficulty
 * of a question does not count. The interval is that of F, exact for normal scores and wide for few treatments. `p` is of a
 * permutation test (Fisher, 1935), which is valid for any scores: scores are permuted within each question.
 *
 * @example
 * ```ts
 * import { Spread } from "@inspo/statistics"
 *
 * const scores = [[1, 0], [1, 0], [1, 1], [0, 0], [1, 0], [1, 0]]
 * Spread.spread(scores, { permutations: 2000, seed: 1 }).means // [0.83…, 0.16…]
 * ```
 */
export const spread = (scores: ReadonlyArray<ReadonlyArray<number>>, { permutations, seed }: Options): Spread => {
  const n = scores.length
  const treatments = scores[0]?.length ?? 0
  if (n < 2 || treatments < 2 || scores.some((row) => row.length !== treatments))
    throw new RangeError(
      `spread: scores has ${n} questions, the first under ${treatments} treatments, expected at least two of each and as many in every row`
    )
  const means = columnMeans(scores)
  const grand = mean([...means])
  const betweenSquare = (n * sum(means.map((one) => (one - grand) ** 2))) / (treatments - 1)
  const residual = sum(
    scores.flatMap((row) => {
      const level = mean([...row])
      return row.map((score, at) => (score - level - (means[at] ?? 0) + grand) ** 2)
    })
  )
  const degrees = [treatments - 1, (treatments - 1) * (n - 1)] as const
  // What is left of equal numbers is an error of rounding.
  const noiseSquare = residual < 1e-12 * n * treatments ? 0 : residual / degrees[1]
  /** The variance between treatments at which their squares exceed the noise by this quantile of F. */
  const bound = (quantile: number) =>
    Math.max(0, (betweenSquare / jstat.centralF.inv(quantile, ...degrees) - noiseSquare) / n)
  return {
    n,
    means,
    between: (betweenSquare - noiseSquare) / n,
    ci95: noiseSquare === 0 ? null : [bound(0.975), bound(0.025)],
    noise: noiseSquare / n,
    p: permuted(scores, permutations, seed)
  }
}

const columnMeans = (scores: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<number> => {
  const sums: Array<number> = (scores[0] ?? []).map(() => 0)
  for (const row of scores) for (const [at, score] of row.entries()) sums[at] = (sums[at] ?? 0) + score
  return sums.map((total) => total / scores.length)
}

/** The share of permutations, including the given scores, whose means differ as much or more. */
const permuted = (scores: ReadonlyArray<ReadonlyArray<number>>, permutations: number, seed: number): number => {
  const apart = (rows: ReadonlyArray<ReadonlyArray<number>>) => sum(columnMeans(rows).map((one) => one * one))
  // Permutations that only swap treatments differ by rounding.
  const observed = apart(scores) - 1e-12
  const { next } = RandomStream.make(seed, ["spread"])
  let asFar = 0
  for (let drawn = 0; drawn < permutations; drawn++)
    if (apart(scores.map((row) => shuffle([...row], next))) >= observed) asFar++
  return (asFar + 1) / (permutations + 1)
}
