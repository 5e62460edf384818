/** What a member's mean reward lies in, by an interval that holds however often it is looked at. */
import type { Interval } from "./Difference.ts"
import type { Bounds } from "./Learning.ts"

/**
 * An interval that holds the mean reward of a unit at all times together with probability 1 − `alpha`, under any silence
 * where silence says nothing; null before the first unit. Units are taken for independent, with rewards in [0, 1].
 *
 * The two-sided normal mixture (Howard, Ramdas, McAuliffe and Sekhon 2021, "Time-uniform, nonparametric, nonasymptotic
 * confidence sequences", proposition 5) at the variance 1/4 that bounded rewards have at most.
 */
export const ofMember = ({ high, low, units }: Bounds, alpha: number): Interval | null => {
  if (units === 0) return null
  const variance = units / 4 + tightest
  const radius = Math.sqrt(variance * Math.log(variance / (tightest * alpha ** 2))) / units
  return {
    lower: Math.max(0, (low - before) / units - radius),
    upper: Math.min(1, (high - before) / units + radius)
  }
}

/** The sums of `Bounds` begin as if one unit had come before. */
const before = 1 / 2

/** Makes the interval tightest at some hundred units. */
const tightest = 2.5
