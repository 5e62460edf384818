/** A confidence interval of a member's mean reward that is valid at any time. */
import type { Bounds } from "./Contents.ts"

/** Bounds of an expected reward, in [0, 1]. */
export interface Interval {
  readonly lower: number
  readonly upper: number
}

/**
 * An interval that contains the mean reward of a group at all times simultaneously with probability 1 − `alpha`; where missing
 * rewards are treated as `worst`, whatever they would have been. Null before the first group. Assumes independent groups with
 * rewards in [0, 1].
 *
 * The two-sided normal mixture (Howard, Ramdas, McAuliffe and Sekhon 2021, "Time-uniform, nonparametric, nonasymptotic
 * confidence sequences", proposition 5) at the variance 1/4, the maximum of rewards in [0, 1].
 */
export const ofMember = ({ high, low, groups }: Bounds, alpha: number): Interval | null => {
  if (groups === 0) return null
  const variance = groups / 4 + tightest
  const radius = Math.sqrt(variance * Math.log(variance / (tightest * alpha ** 2))) / groups
  return {
    lower: Math.max(0, (low - before) / groups - radius),
    upper: Math.min(1, (high - before) / groups + radius)
  }
}

/** The sums of `Bounds` start with one assumed group. */
const before = 1 / 2

/** Makes the interval narrowest at about a hundred groups. */
const tightest = 2.5
