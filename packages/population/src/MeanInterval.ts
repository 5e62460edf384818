/** What a member's mean reward lies in, by an interval that holds however often it is looked at. */
import type { Interval } from "./Difference.ts"
import type { Bounds } from "./Population.ts"

/**
 * An interval that holds the mean reward of a group at all times together with probability 1 − `alpha`, whatever the missing
 * rewards would have been where they say nothing; null before the first group. Groups are taken for independent, with rewards in [0, 1].
 *
 * The two-sided normal mixture (Howard, Ramdas, McAuliffe and Sekhon 2021, "Time-uniform, nonparametric, nonasymptotic
 * confidence sequences", proposition 5) at the variance 1/4 that bounded rewards have at most.
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

/** The sums of `Bounds` begin as if one group had come before. */
const before = 1 / 2

/** Makes the interval tightest at some hundred groups. */
const tightest = 2.5
