import jstat from "jstat"
import { mean, sampleStandardDeviation } from "simple-statistics"
import type { Interval } from "./Interval.ts"

/** A share of `n` independent trials, with its 95 % interval. */
export interface Proportion {
  readonly n: number
  readonly successes: number
  readonly share: number
  readonly ci95: Interval
}

/**
 * The share of successes with its exact interval (Clopper and Pearson, 1934), which never covers less than 95 %. `n` is at
 * least 1.
 *
 * @example
 * ```ts
 * import { Exact } from "@inspo/statistics"
 *
 * Exact.proportion(0, 100).ci95 // [0, 0.036…]
 * ```
 */
export const proportion = (successes: number, n: number): Proportion => ({
  n,
  successes,
  share: successes / n,
  ci95: shareInterval(successes, n, 0.95)
})

/** The interval of {@link proportion} at another `level`. `successes` may be a sum of numbers in [0, 1], such as rewards. */
export const shareInterval = (successes: number, n: number, level: number): Interval => [
  successes <= 0 ? 0 : jstat.beta.inv((1 - level) / 2, successes, n - successes + 1),
  successes >= n ? 1 : jstat.beta.inv((1 + level) / 2, successes + 1, n - successes)
]

/** Mean of `n` numbers with the 95 % interval of the mean, or null below two numbers. */
export interface Estimate {
  readonly n: number
  readonly mean: number
  readonly ci95: Interval | null
}

/**
 * Mean and t-interval (Student, 1908) of independent numbers, such as one result per seed; null without any.
 *
 * @example
 * ```ts
 * import { Exact } from "@inspo/statistics"
 *
 * Exact.estimate([0.1, 0.2, 0.3]) // mean 0.2, interval ≈ [-0.048, 0.448]
 * ```
 */
export const estimate = (values: ReadonlyArray<number>): Estimate | null =>
  values.length === 0 ? null : { n: values.length, mean: mean([...values]), ci95: tInterval(values, 0.95) }

/** The t-interval of the mean of at least one number that covers it with the probability `level`; null for a single number. */
export const tInterval = (values: ReadonlyArray<number>, level: number): Interval | null => {
  if (values.length === 1) return null
  const sample = [...values]
  const half = (tQuantile(level, sample.length - 1) * sampleStandardDeviation(sample)) / Math.sqrt(sample.length)
  return [mean(sample) - half, mean(sample) + half]
}

/** Half the width of the t-interval of `level`, in standard errors, for so many degrees of freedom. */
export const tQuantile = (level: number, degreesOfFreedom: number): number =>
  jstat.studentt.inv((1 + level) / 2, degreesOfFreedom)

/** The exact two-sided p-value of `better` against `worse`, without ties. */
export const signTest = (better: number, worse: number): number =>
  Math.min(1, 2 * jstat.binomial.cdf(Math.min(better, worse), better + worse, 0.5))
