/** How much better one member is than another, as a confidence interval that is valid at any time. */
import type { Member } from "./Population.ts"
import { bets } from "./Superiority.ts"

/** Bounds of the expected reward of one member minus that of another, in [-1, 1]. */
export interface Interval {
  readonly lower: number
  readonly upper: number
}

/**
 * An interval that contains the difference at all times simultaneously with probability 1 − `alpha`; where missing rewards
 * are treated as `worst`, whatever they would have been. It is [-1, 1] while the two share no step.
 *
 * The e-value against "the difference is at most d" takes c · d · Σ n m / (n + m) from the exponent of each bet c of
 * `Superiority`. The lower bound is the largest d at which it reaches 2 / alpha; the upper bound is that of the rival, negated.
 */
export const interval = (member: Member, rival: Member, alpha: number): Interval => ({
  lower: lowerBound(member, rival, alpha / 2),
  upper: -lowerBound(rival, member, alpha / 2)
})

/** Whether a member is better than another by more than `difference`, at the risk `alpha`. */
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

/** The largest difference that is certainly exceeded, to a precision of 2⁻³⁰; -1 without evidence. */
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
