/** How much better one member is than another, by an interval that holds however often it is looked at. */
import type { Member } from "./Population.ts"
import { bets } from "./Superiority.ts"

/** Bounds of the expected reward of one member less that of another, in [-1, 1]. */
export interface Interval {
  readonly lower: number
  readonly upper: number
}

/**
 * An interval that holds the difference at all times together with probability 1 − `alpha`, whatever the missing rewards
 * would have been where they say nothing. It is all of [-1, 1] while the two share no step.
 *
 * The e-value against "the difference is at most d" takes c · d · Σ n m / (n + m) from the exponent of each bet c of
 * `Superiority`. The lower bound is the largest d at which it reaches 2 / alpha; the upper one is that of the rival, turned.
 */
export const interval = (member: Member, rival: Member, alpha: number): Interval => ({
  lower: lowerBound(member, rival, alpha / 2),
  upper: -lowerBound(rival, member, alpha / 2)
})

/** Whether a member is known to be better than another by more than `difference`, at the risk `alpha`. */
export const exceeds = (
  member: Member,
  rival: Member,
  { alpha, difference }: { readonly alpha: number; readonly difference: number }
): boolean => {
  const evidence = member.lifetime.against.find((one) => one.rival === rival.instruction.id)
  if (evidence === undefined) return false
  const { exponents, overlap } = evidence
  const total = exponents.reduce(
    (sum, exponent, index) => sum + Math.exp(exponent - (bets[index] ?? 0) * difference * overlap),
    0
  )
  return total / exponents.length >= 1 / alpha
}

/** The largest difference that is known to be exceeded, to 2⁻³⁰; -1 while nothing is known. */
const lowerBound = (member: Member, rival: Member, alpha: number): number => {
  let low = -1
  let high = 1
  for (let halving = 0; halving < 31; halving++) {
    const middle = (low + high) / 2
    if (exceeds(member, rival, { alpha, difference: middle })) low = middle
    else high = middle
  }
  return low
}
