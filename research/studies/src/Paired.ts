/** Differences of arms over the seeds that both have, and claims that one is higher. */
import { Exact, type Interval } from "@inspo/statistics"
import { mean } from "simple-statistics"

/** The values of both sides at the keys (seeds) that both have. */
export const pairs = <A>(left: ReadonlyMap<number, A>, right: ReadonlyMap<number, A>): ReadonlyArray<readonly [A, A]> =>
  [...left].flatMap(([key, value]) => {
    const other = right.get(key)
    return other === undefined ? [] : [[value, other] as const]
  })

/** The estimate of `left - right` over the keys (seeds) of both. */
export const paired = (left: ReadonlyMap<number, number>, right: ReadonlyMap<number, number>): Exact.Estimate | null =>
  Exact.estimate(differences(left, right))

const differences = (left: ReadonlyMap<number, number>, right: ReadonlyMap<number, number>): ReadonlyArray<number> =>
  pairs(left, right).map(([one, other]) => one - other)

/** The result of a claim that one side is higher than the other. */
export interface Judged {
  readonly n: number
  /** The mean of the claimed higher side minus that of the other. */
  readonly mean: number
  readonly interval: Interval.Interval | null
  readonly verdict: "confirmed" | "contradicted" | "open"
}

/**
 * Tests claims that one side is higher than the other, together: with a probability of 95 % all intervals contain their true
 * differences (t-intervals of pairs at 1 - 0.05 / k for k claims, after Bonferroni). A claim is confirmed or contradicted if
 * its interval is on one side of 0, else open, also with fewer than two pairs; null without any pair.
 */
export const judge = (
  claims: ReadonlyArray<readonly [higher: ReadonlyMap<number, number>, lower: ReadonlyMap<number, number>]>
): ReadonlyArray<Judged | null> =>
  claims.map(([higher, lower]) => {
    const values = differences(higher, lower)
    if (values.length === 0) return null
    const interval = Exact.tInterval(values, 1 - 0.05 / claims.length)
    const verdict =
      interval === null ? "open" : interval[0] > 0 ? "confirmed" : interval[1] < 0 ? "contradicted" : "open"
    return { n: values.length, mean: mean(values), interval, verdict }
  })
