/** Which instruction is returned: one named rule for each kind of evidence, and what each guarantees. */
import { type Instruction, RandomStream } from "@inspo/domain"
import { Comparison, Difference, Population } from "@inspo/population"
import { Bootstrap, Bounded, Exact } from "@inspo/statistics"
import { EvidencePruning } from "@inspo/successive-halving"
import { Option } from "effect"

/** I*, as in the paper: the best by its value. Guarantees nothing; the largest of several noisy values is too large on average. */
export const value = (
  valuation: Pick<Population.Interface, "best">,
  population: Population.Contents
): Option.Option<Instruction.Instruction> => Option.map(valuation.best(population), ({ instruction }) => instruction)

/**
 * How much better a member is than the control, where the 95 % interval of {@link Difference.between} is above 0; else null. By its model
 * it is wrong in 2.5 % of the cases for a member and a time that were chosen before the rewards. For the best of several members, or at the
 * best of several times, it guarantees nothing.
 */
export const interval = (
  population: Population.Contents,
  member: Instruction.InstructionId,
  control: Instruction.InstructionId
): Difference.Difference | null => {
  const found = Difference.between(population, member, control)
  return found !== null && found.lower > 0 ? found : null
}

/**
 * The members that are better than the control: none until paired bets show that the control is not the best, then those above it by
 * {@link interval}. A control that is the best is ever left with a probability of at most `risk`, over all looks, entries and departures
 * ({@link Comparison.observe} says what this assumes). Which of the others are better is only as sure as the interval.
 */
export const anytime = (
  population: Population.Contents,
  control: Instruction.InstructionId,
  risk: number
): ReadonlyArray<Instruction.InstructionId> =>
  (EvidencePruning.doubtsOf(population).get(control) ?? 1) <= risk
    ? Population.ids(population).filter((member) => interval(population, member, control) !== null)
    : []

/** Of these members, the one with the largest expected reward; among equals the oldest. Guarantees nothing. */
export const bestAmong = (
  population: Population.Contents,
  some: ReadonlyArray<Instruction.InstructionId>
): Instruction.InstructionId | undefined => {
  const all = Population.ids(population)
  const { means } = Comparison.posterior(population.comparison)
  const meanOf = (id: Instruction.InstructionId) => means[all.indexOf(id)] ?? -Infinity
  const most = Math.max(...some.map(meanOf))
  return all.find((id) => some.includes(id) && meanOf(id) === most)
}

/** How much better an instruction does than the control on one case, in [-1, 1]: with each missing score against it, and for it. */
export interface Pair {
  readonly least: number
  readonly most: number
}

/** What pairs show about an instruction and its control. */
export interface Shown {
  readonly verdict: "better" | "no-worse" | "worse" | "undecided"
  readonly gain: Difference.Difference
}

/**
 * The test of an instruction on cases that it was not chosen by, looked at once. It is `better` where at most `risk` of all choices of signs
 * give the differences so large a sum, and `worse` the other way round; `no-worse` where the 90 % interval excludes a loss of `margin`.
 *
 * `better` and `worse` are each wrong with a probability of at most `risk`, for any number of cases, where the difference of equal
 * instructions is as likely to be d as -d; whatever the missing scores would have been. `no-worse` is wrong with a
 * probability of at most 5 % where scores are 0 or 1, else of about 5 %, and of up to 10 % where few of at most 60 pairs decide.
 * The `gain` counts missing scores against the instruction, and excludes 0 only with such a verdict. `seed` draws the signs where
 * differences are of several sizes; else all of them count.
 */
export const heldOut = (
  pairs: ReadonlyArray<Pair>,
  { margin = 0, risk = 0.05, seed }: { readonly seed: number; readonly margin?: number; readonly risk?: number }
): Shown => {
  const least = pairs.map((pair) => pair.least)
  const gain = gainOf(least, risk)
  const isHigh = (differences: ReadonlyArray<number>) => average(differences) > 0 && chance(differences, seed) <= risk
  // The interval and the test of signs can differ near their bound.
  const { lower, upper } = gain
  if (isHigh(least)) return { verdict: "better", gain: { ...gain, lower: Math.max(0, lower) } }
  if (isHigh(pairs.map(({ most }) => -most))) return { verdict: "worse", gain: { ...gain, upper: Math.min(0, upper) } }
  const open = { ...gain, lower: Math.min(0, lower), upper: Math.max(0, upper) }
  return { verdict: open.lower > -margin ? "no-worse" : "undecided", gain: open }
}

/** {@link heldOut} at any time: the gain with bounds that hold together at all looks, with probability 1 - `risk`, whatever is missing. */
export const sequence = (pairs: ReadonlyArray<Pair>, risk = 0.05, bets?: Bounded.Bets): Difference.Difference => {
  const [least, most] = [pairs.map((pair) => pair.least), pairs.map((pair) => pair.most)]
  return {
    mean: (average(least) + average(most)) / 2,
    lower: -Bounded.upperBound(least.map(negated), risk / 2, bets),
    upper: Bounded.upperBound(most, risk / 2, bets)
  }
}

/**
 * What {@link sequence} leaves after all of these numbers of pairs, and after all pairs. Since the bounds hold together at all looks, these
 * hold with the same probability, and are never wider. Looks that exclude each other leave the last one.
 */
export const narrowed = (
  pairs: ReadonlyArray<Pair>,
  looks: ReadonlyArray<number>,
  risk: number,
  bets: Bounded.Bets
): Difference.Difference => {
  const last = sequence(pairs, risk, bets)
  const all = [last, ...looks.map((count) => sequence(pairs.slice(0, count), risk, bets))]
  const [lower, upper] = [Math.max(...all.map((one) => one.lower)), Math.min(...all.map((one) => one.upper))]
  return lower <= upper ? { ...last, lower, upper } : last
}

/** What can be said of an instruction and its control, where a difference below the margin is of no interest. */
export const claims = ["better", "no-worse", "worse", "worse-by-margin", "no-gain"] as const
export type Claim = (typeof claims)[number]

/** The evidence for each claim, as a logarithm. A false claim ever reaches log(1 / risk) with a probability of at most `risk`. */
export type Evidence = Readonly<Record<Claim, number>>

export const evidence = (pairs: ReadonlyArray<Pair>, margin: number): Evidence => {
  const [losses, most] = [pairs.map((pair) => -pair.least), pairs.map((pair) => pair.most)]
  return {
    better: Bounded.evidence(losses, 0, Bounded.pairedBets),
    "no-worse": Bounded.evidence(losses, margin, Bounded.pairedBets),
    worse: Bounded.evidence(most, 0, Bounded.pairedBets),
    "worse-by-margin": Bounded.evidence(most, -margin, Bounded.pairedBets),
    "no-gain": Bounded.evidence(most, margin, Bounded.pairedBets)
  }
}

/** About how many pairs like these are evidence enough for a claim; null if no number is. */
export const needed = (pairs: ReadonlyArray<Pair>, claim: Claim, margin: number, risk: number): number | null => {
  const bound = { better: 0, worse: 0, "no-worse": margin, "no-gain": margin, "worse-by-margin": -margin }[claim]
  const isOfLosses = claim === "better" || claim === "no-worse"
  const values = pairs.map(({ least, most }) => (isOfLosses ? -least : most))
  return Bounded.neededBelow(values, bound, risk, Bounded.pairedBets)
}

/** The claims that {@link heldOut} allows after a single look, each at `risk`. */
export const final = (
  pairs: ReadonlyArray<Pair>,
  margin: number,
  risk: number,
  seed: number
): Shown & { readonly claims: ReadonlySet<Claim> } => {
  const shown = heldOut(pairs, { margin, risk, seed })
  const reversed = heldOut(
    pairs.map(({ least, most }) => ({ least: -most, most: -least })),
    { margin, risk, seed }
  )
  const found: Readonly<Record<Claim, boolean>> = {
    better: shown.verdict === "better",
    "no-worse": shown.gain.lower > -margin,
    worse: reversed.verdict === "better",
    "worse-by-margin": reversed.gain.lower > margin,
    "no-gain": reversed.gain.lower > -margin
  }
  return { ...shown, claims: new Set(claims.filter((claim) => found[claim])) }
}

/** The verdict that claims allow. Worse by less than the margin is no worse. */
export const verdictOf = (shown: ReadonlySet<Claim>): Shown["verdict"] =>
  shown.has("better") ? "better" : shown.has("no-worse") ? "no-worse" : shown.has("worse") ? "worse" : "undecided"

const negated = (value: number): number => -value

const average = (values: ReadonlyArray<number>): number => Bootstrap.meanOf(values) ?? 0

const gainOf = (differences: ReadonlyArray<number>, risk: number): Difference.Difference => {
  if (differences.length === 0) return { mean: 0, lower: -1, upper: 1 }
  const [lower, upper] = Bounded.differenceInterval(differences, risk)
  return { mean: average(differences), lower, upper }
}

/** The one-sided p-value of a mean above 0 by random signs, which is exact for few cases where the t-interval is not. */
const chance = (differences: ReadonlyArray<number>, seed: number): number => {
  // The sign of no difference changes nothing.
  const signed = differences.filter((one) => one !== 0)
  const ups = signed.filter((one) => one > 0).length
  const size = Math.abs(signed[0] ?? 0)
  if (signed.every((one) => Math.abs(one) === size)) return Exact.signTest(ups, signed.length - ups) / 2
  const total = signed.reduce((sum, one) => sum + one, 0)
  const stream = RandomStream.make(seed, ["signs"])
  let asLarge = 1
  for (let draw = 0; draw < permutations; draw++) {
    let sum = 0
    for (const one of signed) sum += stream.next() < 0.5 ? one : -one
    if (sum >= total - 1e-12) asLarge += 1
  }
  return asLarge / (permutations + 1)
}

const permutations = 9_999
