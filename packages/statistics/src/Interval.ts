import { Schema } from "effect"

/** The bounds of a closed interval. */
export const Interval = Schema.Tuple([Schema.Finite, Schema.Finite])
export type Interval = typeof Interval.Type

/**
 * The 95 % score interval of a binomial share (Wilson, 1927): `successes` of `trials` independent questions. Without
 * trials the interval is [0, 1].
 *
 * @example
 * ```ts
 * import { Interval } from "@inspo/statistics"
 *
 * Interval.wilson(8, 10) // ≈ [0.490, 0.943]
 * ```
 */
export const wilson = (successes: number, trials: number): Interval => {
  if (trials === 0) return [0, 1]
  const share = successes / trials
  const square = z95 * z95
  const scale = 1 + square / trials
  const middle = share + square / (2 * trials)
  const half = z95 * Math.sqrt((share * (1 - share)) / trials + square / (4 * trials * trials))
  return [
    successes === 0 ? 0 : Math.max(0, (middle - half) / scale),
    successes === trials ? 1 : Math.min(1, (middle + half) / scale)
  ]
}

/** A share with its interval. */
export interface Estimated {
  readonly mean: number
  readonly ci95: Interval
}

/**
 * The 95 % interval of the difference of two shares, from the interval of each (Newcombe, 1998, method 10). It is made for
 * independent samples; for the same questions it is usually wider than necessary.
 *
 * @example
 * ```ts
 * import { Interval } from "@inspo/statistics"
 *
 * Interval.ofDifference({ mean: 0.8, ci95: Interval.wilson(80, 100) }, { mean: 0.6, ci95: Interval.wilson(60, 100) }) // ≈ [0.075, 0.318]
 * ```
 */
export const ofDifference = (one: Estimated, other: Estimated): Interval => {
  const [low, high] = one.ci95
  const [otherLow, otherHigh] = other.ci95
  const difference = one.mean - other.mean
  return [
    difference - Math.hypot(one.mean - low, otherHigh - other.mean),
    difference + Math.hypot(high - one.mean, other.mean - otherLow)
  ]
}

/** The mean of `n` differences with its interval. */
export const MeanDifference = Schema.Struct({ mean: Schema.Finite, ci95: Interval, n: Schema.Int })
export type MeanDifference = typeof MeanDifference.Type

/** The mean of independent differences with its 95 % interval by the normal distribution; null for fewer than two. */
export const meanDifference = (differences: ReadonlyArray<number>): MeanDifference | null => {
  const n = differences.length
  if (n < 2) return null
  const mean = differences.reduce((sum, difference) => sum + difference, 0) / n
  const variance = differences.reduce((sum, difference) => sum + (difference - mean) ** 2, 0) / (n - 1)
  const half = z95 * Math.sqrt(variance / n)
  return { mean, ci95: [mean - half, mean + half], n }
}

/** Half of a 95 % interval of the mean of `n` numbers in [0, 1] by the normal distribution, at the largest variance, 1/4. */
export const halfWidth = (n: number): number => z95 * Math.sqrt(largestVariance / n)

const largestVariance = 1 / 4

/** The 97.5 % quantile of the standard normal distribution. */
const z95 = 1.959963984540054
