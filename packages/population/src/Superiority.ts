/**
 * The evidence that one instruction is better than another, valid at any time.
 *
 * Both are compared within the steps they share, so an effect on both, such as a policy that learns, cancels out. The
 * unit is the group. Sums over the steps are kept, not the steps, so the evidence between two instructions has a constant size.
 */
import { Schema } from "effect"
import { type Instruction, InstructionId } from "@inspo/domain/Instruction"
import * as Invariant from "@inspo/domain/Invariant"

/**
 * The evidence for an instruction from the steps shared with a rival: the logarithm of the e-value under each bet. With n and m groups
 * in a step, `overlap` is Σ n m / (n + m) over these steps.
 */
export const Evidence = Schema.Struct({
  rival: InstructionId,
  exponents: Schema.Array(Schema.Finite),
  overlap: Schema.Finite
})
export interface Evidence extends Schema.Schema.Type<typeof Evidence> {}

/**
 * The groups of an instruction in one step: how many, the sum of their mean rewards and of the squares of these. `centre`
 * is the mean of its groups before that step, 1/2 before the first.
 */
export interface Step {
  readonly groups: number
  readonly sum: number
  readonly squares: number
  readonly centre: number
}

/** The part of a member that is compared. */
export interface Compared {
  readonly instruction: Pick<Instruction, "id">
  readonly lifetime: { readonly against: ReadonlyArray<Evidence> }
}

/**
 * The e-value against "`worse` is at least as good as `better`": 1 before the first shared step; a large value
 * refutes the claim. Never negative; may be Infinity, never NaN.
 *
 * The claim is that in no shared step a group of `better` has a larger expected mean reward. As long as it holds, the
 * e-value of a run exceeds `1 / α` at any time with probability α at most (Ville's inequality), whatever the
 * sampler preferred, provided that the groups of a step are independent given the steps before, with mean
 * rewards in [0, 1].
 *
 * Source: the empirical-Bernstein supermartingale of Waudby-Smith and Ramdas (2024, "Estimating means of bounded random
 * variables by betting", theorem 2; Fan, Grama and Liu 2015), here for a difference. With n and m groups in a step and
 * λ = c·m/(n+m), μ = c·n/(n+m), the factor of the step is
 * exp(λ Σx − μ Σy − ψ(λ) Σ(x − x̂)² − ψ(μ) Σ(y − ŷ)²), where ψ(λ) = −ln(1 − λ) − λ and x̂, ŷ are means of earlier steps.
 * Bets c of several sizes are averaged, for large and small differences.
 */
export const eValue = (better: Compared, worse: Compared): number => {
  const exponents = better.lifetime.against.find(({ rival }) => rival === worse.instruction.id)?.exponents ?? nothing
  return exponents.reduce((sum, exponent) => sum + Math.exp(exponent), 0) / bets.length
}

/** The evidence for an instruction after one more step shared with a rival; `known` is undefined before the first. */
export const extend = (
  known: Pick<Evidence, "exponents" | "overlap"> | undefined,
  better: Step,
  worse: Step
): Pick<Evidence, "exponents" | "overlap"> => {
  const total = better.groups + worse.groups
  const shareX = worse.groups / total
  const shareY = better.groups / total
  const difference = shareX * better.sum - shareY * worse.sum
  const spreadX = squaredDistance(better)
  const spreadY = squaredDistance(worse)
  return {
    exponents: bets.map(
      (bet, index) =>
        Invariant.at(known?.exponents ?? nothing, index, "bet") +
        bet * difference -
        psi(bet * shareX) * spreadX -
        psi(bet * shareY) * spreadY
    ),
    overlap: (known?.overlap ?? 0) + (better.groups * worse.groups) / total
  }
}

/** A bet c is best for a difference of c times the variance of a group's mean: 0.4 to 12 points at a variance of 1/4. */
export const bets: ReadonlyArray<number> = [1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2]

/** Before the first shared step. */
const nothing = bets.map(() => 0)

const psi = (bet: number): number => -Math.log1p(-bet) - bet

const squaredDistance = ({ centre, groups, squares, sum }: Step): number =>
  squares - 2 * centre * sum + groups * centre ** 2
