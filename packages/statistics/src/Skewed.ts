/** Bounds of the mean of numbers without bounds, such as costs, of which the largest is seldom seen. They hold for many numbers. */
import { tQuantile } from "./Exact.ts"
import * as Moments from "./Moments.ts"

/** What is known of some numbers: the sum of their squared distances from the mean, and the largest distance. */
export interface Spread {
  readonly count: number
  readonly mean: number
  readonly squares: number
  readonly farthest: number
}

export const spreadOf = (values: ReadonlyArray<number>): Spread => {
  const mean = Moments.mean(values)
  return {
    count: values.length,
    mean,
    squares: values.reduce((sum, one) => sum + (one - mean) ** 2, 0),
    farthest: Math.max(0, ...values.map((one) => Math.abs(one - mean)))
  }
}

/** The same numbers with the other sign. */
export const negated = (spread: Spread): Spread => ({ ...spread, mean: -spread.mean })

/** The standard errors that a mean of so many values is uncertain by after one look. */
export const once = (count: number, risk: number): number => tQuantile(1 - 2 * risk, count - 1)

/** At all looks together (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, 2024), fewest for 100 values. */
export const anytime = (count: number, risk: number): number => {
  const grown = (count * (2 * Math.log(1 / risk) + Math.log(2 * Math.log(1 / risk)) + 1)) / 100 + 1
  return Math.sqrt(((2 * grown) / (grown - 1)) * Math.log1p(Math.sqrt(grown) / (2 * risk)))
}

/**
 * An upper bound of a mean, so many standard errors above it. One more value, as far above the mean again as twice the farthest, is for
 * those that a skewed distribution has and few cases do not show: without it costs are called low four times as often as they may be.
 */
export const upperBound = ({ count, farthest, mean, squares }: Spread, errors: number): number => {
  const more = 2 * farthest
  const step = more / (count + 1)
  const all = squares + count * step ** 2 + (more - step) ** 2
  return mean + step + errors * Math.sqrt(all / Math.max(1, count) / (count + 1))
}
