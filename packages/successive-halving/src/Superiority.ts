/**
 * The evidence that one instruction is better than another, valid however often it is looked at.
 *
 * Both are compared within the steps they share, so what moves both alike, such as a policy that learns, cancels out. The
 * unit is the group.
 */
import type { Lifetime, StepEvidence } from "@inspo/population/Population"

/**
 * The e-value against "`worse` is at least as good as `better`": 1 before the first shared step, and large when that claim
 * is hard to hold. Never negative; may be Infinity, never NaN.
 *
 * The claim is that in no shared step a group of `better` has a larger expected mean reward. As long as it holds, the
 * e-value of a run exceeds `1 / α` at any time with probability α at most (Ville's inequality), whatever made the
 * sampler prefer one or the other, provided that the groups of a step are independent given the steps before, with mean
 * rewards in [0, 1].
 *
 * Source: the empirical-Bernstein supermartingale of Waudby-Smith and Ramdas (2024, "Estimating means of bounded random
 * variables by betting", theorem 2; Fan, Grama and Liu 2015), here for a difference. With n and m groups in a step and
 * λ = c·m/(n+m), μ = c·n/(n+m), the factor of the step is
 * exp(λ Σx − μ Σy − ψ(λ) Σ(x − x̂)² − ψ(μ) Σ(y − ŷ)²), where ψ(λ) = −ln(1 − λ) − λ and x̂, ŷ are means of earlier steps.
 * Bets c of several sizes are averaged, for large and small differences.
 */
export const eValue = (better: Lifetime, worse: Lifetime): number => {
  const exponents = bets.map(() => 0)
  for (const [x, y] of sharedSteps(better, worse)) {
    const total = x.evidence.groups + y.evidence.groups
    const shareX = y.evidence.groups / total
    const shareY = x.evidence.groups / total
    const difference = shareX * x.evidence.groupMeanSum - shareY * y.evidence.groupMeanSum
    const spreadX = squaredDistance(x)
    const spreadY = squaredDistance(y)
    for (const [index, bet] of bets.entries())
      exponents[index] =
        (exponents[index] ?? 0) + bet * difference - psi(bet * shareX) * spreadX - psi(bet * shareY) * spreadY
  }
  return exponents.reduce((sum, exponent) => sum + Math.exp(exponent), 0) / bets.length
}

/** A bet c is best for a difference of c times the variance of a group's mean: 0.4 to 12 points at a variance of 1/4. */
const bets = [1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2]

const psi = (bet: number): number => -Math.log1p(-bet) - bet

/** A step of one instruction with the mean of its groups before that step, 1/2 before the first. */
interface Centred {
  readonly evidence: StepEvidence
  readonly centre: number
}

const squaredDistance = ({ centre, evidence }: Centred): number =>
  evidence.groupMeanSquareSum - 2 * centre * evidence.groupMeanSum + evidence.groups * centre ** 2

const centred = ({ steps }: Lifetime): ReadonlyArray<Centred> => {
  let groups = 1
  let sum = 1 / 2
  return steps.map((evidence) => {
    const centre = sum / groups
    groups += evidence.groups
    sum += evidence.groupMeanSum
    return { evidence, centre }
  })
}

const sharedSteps = (left: Lifetime, right: Lifetime): ReadonlyArray<readonly [Centred, Centred]> => {
  const others = new Map(centred(right).map((entry) => [entry.evidence.step, entry]))
  return centred(left).flatMap((entry) => {
    const other = others.get(entry.evidence.step)
    return other === undefined ? [] : [[entry, other] as const]
  })
}
