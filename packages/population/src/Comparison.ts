/**
 * Compares the members of a population within blocks ({@link Blocks}), so that what a question or a better policy changes for
 * all of them cancels. Two kinds of evidence, both of a size that does not grow with the run:
 *
 * - A Gaussian model y = θ_i + u_block + e with a free effect of each block: means, intervals, and P(best), the probability
 *   that a member is the best. It allocates rollouts and chooses the incumbent; it guarantees nothing.
 * - For each member betting e-processes against "no other is better": one for each pair, and one for all its rivals together. They begin
 *   when it and the rival are members and end when one leaves; who else enters does not change them. Whatever is called certain follows
 *   from these.
 */
import { sumAll } from "effect/Number"
import * as RandomStream from "@inspo/domain/RandomStream"
import type { Instruction } from "@inspo/domain"
import type { Block, Cell, Waiting } from "./Blocks.ts"
import type { Comparison, Prior } from "./Contents.ts"
import { at, cholesky, inverse, type Matrix, solve, type Vector } from "./internal/Cholesky.ts"

export type { Comparison, Prior } from "./Contents.ts"

/** Of runs and served populations: newcomers are 2 points below the incumbent they were written from, give or take 5. */
const defaultPrior: Prior = { spread: 0.01, newcomer: -0.02, deviation: 0.05 }

/** Without members. */
export const empty: Comparison = {
  precision: [],
  weighted: [],
  squares: 0,
  freedom: 0,
  samples: 0,
  sum: 0,
  exponents: [],
  shares: [],
  since: [],
  generation: 0,
  chances: [],
  incumbent: -1,
  waiting: []
}

/** λ: the sizes of the bets, whose e-processes are averaged. */
export const bets: ReadonlyArray<number> = [0.05, 0.1, 0.2, 0.4, 0.8, 0.95]

/** The means of the members relative to each other, with their covariance, in units of the reward. */
export interface Posterior {
  readonly means: ReadonlyArray<number>
  readonly covariance: Matrix
}

/** The posterior under the prior θ_i ~ N(0, `spread` m (1 − m)), m the mean of all rewards. */
export const posterior = (comparison: Comparison, spread = priorOf(comparison).spread): Posterior => {
  const { weighted } = comparison
  const noise = noiseVariance(comparison)
  const lower = cholesky(scaled(comparison.precision, noise, 1 / (spread * sampleVariance(comparison))))
  return {
    means: solve(
      lower,
      weighted.map((one) => one / noise)
    ),
    covariance: inverse(lower)
  }
}

/** The standard deviation of the difference of two members. */
export const deviation = ({ covariance }: Posterior, a: number, b: number): number =>
  Math.sqrt(Math.max(0, at(covariance[a], a) + at(covariance[b], b) - 2 * at(covariance[a], b)))

/**
 * The evidence against "no other member is better" of each member, by its pairs with those present and by all its rivals together, each
 * times its share of the risk. For a member that is as good as all its rivals, it ever reaches 1 / δ with a probability of at most δ,
 * over the whole life.
 */
export const evidenceAgainst = (comparison: Comparison): ReadonlyArray<number> =>
  comparison.exponents.map((row, place) => sumAll(row.map((_, rival) => evidence(comparison, place, rival))))

/** The same members before any bet was won: {@link evidenceAgainst} each of them is at most 1. */
export const withoutEvidence = (comparison: Comparison): Comparison => ({
  ...comparison,
  exponents: comparison.exponents.map((row) => row.map((own) => own.map(() => 0)))
})

/**
 * About how many more rewards, of all members, until {@link evidenceAgainst} a member is 1 / `delta`, if what shows most goes on to grow
 * as since it began: at least 1 until then, 0 from then on. Null while nothing grows.
 */
export const rewardsNeeded = (comparison: Comparison, place: number, delta: number): number | null => {
  const parts = (comparison.exponents[place] ?? []).map((_, rival) => evidence(comparison, place, rival))
  const left = -Math.log(delta * sumAll(parts))
  if (left <= 0) return 0
  const rival = parts.indexOf(Math.max(...parts))
  const growth = Math.max(...(comparison.exponents[place]?.[rival] ?? []))
  const rewards = comparison.samples - Math.max(at(comparison.since, place), at(comparison.since, rival))
  return growth > 0 ? Math.max(1, Math.ceil((left / growth) * rewards)) : null
}

/** The mean of an e-process over the bets, times its share of the risk. */
const evidence = ({ exponents, shares }: Comparison, place: number, rival: number): number =>
  (at(shares[place], rival) * sumAll((exponents[place]?.[rival] ?? []).map(Math.exp))) / bets.length

/**
 * What a unit of time brings: its blocks, the groups that wait for a rival, and all its rewards. `missing` is the share of
 * each member's rewards that are missing: P(best) follows no difference that missing rewards could explain. `step` names
 * the draws.
 */
export interface Unit {
  readonly blocks: ReadonlyArray<Block>
  readonly waiting: ReadonlyArray<Waiting>
  readonly rewards: { readonly samples: number; readonly sum: number }
  readonly missing: ReadonlyArray<number>
  readonly step: number
}

/**
 * Adds a unit of time.
 *
 * The e-process of member i and its rival j multiplies by 1 + λ (y_j − y_i) for each block that has both, with missing rewards in favour
 * of i. That of all its rivals has their mean instead of y_j, by their P(best) before the unit. While no rival has a larger expected
 * reward than i in any block, the factor's expected value is at most 1, so by
 * Ville's inequality it ever reaches 1 / α with probability α at most (Waudby-Smith and Ramdas 2024, "Estimating means of
 * bounded random variables by betting"). This holds for rewards in [0, 1] and questions drawn at random given the past.
 */
export const observe = (
  comparison: Comparison,
  members: ReadonlyArray<Instruction.InstructionId>,
  { blocks, missing, rewards, step, waiting }: Unit
): Comparison =>
  judge(
    {
      ...count(comparison, members, blocks),
      samples: comparison.samples + rewards.samples,
      sum: comparison.sum + rewards.sum,
      waiting
    },
    missing,
    step
  )

/**
 * The sums with those of blocks, or with `sign` −1 without those of blocks that are in them. The bets are placed by the `chances`, which
 * stay what they are until {@link judge}.
 */
export const count = (
  comparison: Comparison,
  members: ReadonlyArray<Instruction.InstructionId>,
  blocks: ReadonlyArray<Block>,
  sign: 1 | -1 = 1
): Comparison => {
  if (blocks.length === 0) return comparison
  const place = new Map(members.map((id, index) => [id, index]))
  const precision = comparison.precision.map((row) => [...row])
  const weighted = [...comparison.weighted]
  const exponents = comparison.exponents.map((row) => row.map((own) => [...own]))
  const stakes = comparison.chances.map((chance) => chance + 1e-6)
  let { freedom, squares } = comparison
  for (const block of blocks) {
    const cells: Array<Cell & { readonly index: number; readonly stake: number }> = []
    for (const { high, instruction, low, weight } of block) {
      const index = place.get(instruction)
      if (index !== undefined) cells.push({ instruction, high, low, weight, index, stake: at(stakes, index) })
    }
    if (cells.length < 2) continue
    let [weight, weighedLow, allStakes, stakedLow] = [0, 0, 0, 0]
    for (const { low, stake, weight: own } of cells) {
      weight += own
      weighedLow += own * low
      allStakes += stake
      stakedLow += stake * low
    }
    const centre = weighedLow / weight
    for (const one of cells) {
      const row = precision[one.index] ?? []
      row[one.index] = at(row, one.index) + sign * one.weight
      for (const other of cells) row[other.index] = at(row, other.index) - (sign * one.weight * other.weight) / weight
      weighted[one.index] = at(weighted, one.index) + sign * one.weight * (one.low - centre)
      squares += sign * one.weight * (one.low - centre) ** 2
    }
    freedom += sign * (cells.length - 1)
    for (const { high, index, low: own, stake } of cells)
      for (const { index: rival, low } of cells) {
        const earned = index === rival ? (stakedLow - stake * own) / (allStakes - stake) : low
        const process = exponents[index]?.[rival] ?? []
        for (const [k, bet] of bets.entries()) process[k] = at(process, k) + sign * Math.log1p(bet * (earned - high))
      }
  }
  return { ...comparison, precision, weighted, squares, freedom, exponents }
}

/** Adds members; their e-processes begin. What the {@link Prior} expects of newcomers enters as one more observation. */
export const enter = (
  comparison: Comparison,
  count: number,
  { missing, step }: Pick<Unit, "missing" | "step">
): Comparison => judge(entered(comparison, count), missing, step)

/** {@link enter} without a judgement: the chances of the newcomers are 0, and the incumbent stays. */
export const entered = (comparison: Comparison, count: number): Comparison => {
  const present = comparison.weighted.length
  const size = present + count
  const noise = noiseVariance(comparison)
  const fresh = Array.from({ length: count }, () => 0)
  const precision: Array<Array<number>> = [
    ...comparison.precision.map((row) => [...row, ...fresh]),
    ...fresh.map(() => Array.from({ length: size }, () => 0))
  ]
  const weighted = [...comparison.weighted, ...fresh]
  let { squares } = comparison
  const { incumbent } = comparison
  if (incumbent >= 0) {
    const { deviation, newcomer } = priorOf(comparison)
    const weight = noise / deviation ** 2
    for (let place = present; place < size; place++) {
      add(precision, place, place, weight)
      add(precision, incumbent, incumbent, weight)
      add(precision, place, incumbent, -weight)
      add(precision, incumbent, place, -weight)
      weighted[place] = weight * newcomer
      weighted[incumbent] = at(weighted, incumbent) - weight * newcomer
      squares += weight * newcomer ** 2
    }
  }
  const generation = comparison.generation + 1
  const half = 1 / (2 * generation * (generation + 1))
  const against = size - present
  const others = size ** 2 - present ** 2 - against
  const withNew = <A>(rows: ReadonlyArray<ReadonlyArray<A>>, one: (row: number, column: number) => A) =>
    weighted.map((_, row) => weighted.map((_, column) => rows[row]?.[column] ?? one(row, column)))
  return {
    ...comparison,
    precision,
    weighted,
    squares,
    exponents: withNew(comparison.exponents, () => bets.map(() => 0)),
    shares: withNew(comparison.shares, (row) => half / (row === 0 ? against : others)),
    since: weighted.map((_, place) => comparison.since[place] ?? comparison.samples),
    generation,
    chances: [...comparison.chances, ...fresh],
    incumbent: incumbent < 0 ? 0 : incumbent
  }
}

/** Removes members: the model without them, so that what they showed about the others remains. */
export const leave = (
  comparison: Comparison,
  members: ReadonlyArray<Instruction.InstructionId>,
  leaving: ReadonlySet<Instruction.InstructionId>,
  { missing, step }: Pick<Unit, "missing" | "step">
): Comparison => {
  if (leaving.size === 0) return comparison
  let { precision, squares, weighted } = comparison
  for (const [place, id] of members.entries()) {
    const own = at(precision[place], place)
    if (!leaving.has(id) || own <= 1e-9) continue
    const row = precision[place] ?? []
    const level = at(weighted, place)
    precision = precision.map((other) => {
      const shared = at(other, place)
      return shared === 0 ? other : other.map((one, column) => one - (shared * at(row, column)) / own)
    })
    weighted = weighted.map((one, column) => one - (at(row, column) * level) / own)
    squares -= level ** 2 / own
  }
  const stays = (_: unknown, place: number) => members.some((id, index) => index === place && !leaving.has(id))
  const incumbent = members[comparison.incumbent]
  const left: Comparison = {
    ...comparison,
    precision: precision.filter(stays).map((row) => row.filter(stays)),
    weighted: weighted.filter(stays),
    squares: Math.max(0, squares),
    exponents: comparison.exponents.filter(stays).map((row) => row.filter(stays)),
    shares: comparison.shares.filter(stays).map((row) => row.filter(stays)),
    since: comparison.since.filter(stays),
    chances: comparison.chances.filter(stays),
    incumbent: incumbent === undefined ? -1 : members.filter(stays).indexOf(incumbent),
    waiting: comparison.waiting.filter(({ instruction }) => !leaving.has(instruction))
  }
  return judge(left, missing, step)
}

/** P(best) and the incumbent by the evidence so far. */
export const judge = (comparison: Comparison, missing: ReadonlyArray<number>, step: number): Comparison => {
  if (comparison.weighted.length === 0) return { ...comparison, ...empty, generation: comparison.generation }
  const { covariance, incumbent, means } = leadOf(comparison, missing)
  return { ...comparison, chances: chancesOf({ means, covariance }, step), incumbent }
}

/** The incumbent alone, of members of whom some are about to {@link leave}. */
export const lead = (comparison: Comparison, missing: ReadonlyArray<number>): Comparison => ({
  ...comparison,
  incumbent: leadOf(comparison, missing).incumbent
})

const leadOf = (comparison: Comparison, missing: Vector): Posterior & Pick<Comparison, "incumbent"> => {
  const { covariance, means: shown } = posterior(comparison)
  const means = missing.some((share) => share > 0) ? alike(shown, shrunken(comparison, shown, missing)) : shown
  // Among equals the oldest leads, not the one that rounding favours.
  const most = Math.max(...means)
  const leader = means.findIndex((mean) => mean > most - rounding)
  const { incumbent } = comparison
  // A tie, such as where missing rewards explain all differences, changes nothing.
  const isNew = incumbent < 0 || at(means, leader) > at(means, incumbent) + rounding
  return { means, covariance, incumbent: isNew ? leader : incumbent }
}

/** Shares of missing rewards on the scale of means that the prior has shrunk. */
const shrunken = (comparison: Comparison, means: Vector, missing: Vector): Vector => {
  const spread = (some: Vector) => Math.max(...some) - Math.min(...some)
  const raw = spread(posterior(comparison, 1).means)
  const factor = raw > 0 ? Math.min(1, spread(means) / raw) : 1
  return missing.map((share) => share * factor)
}

/**
 * Means with missing rewards counted as what makes the members most alike. `missing` is the share of each member's rewards
 * that are missing, and could add as much to its mean.
 */
const alike = (means: Vector, missing: Vector): Vector => {
  const ranges = means.map((least, place) => ({ least, most: least + at(missing, place) }))
  const centre = (Math.max(...ranges.map(({ least }) => least)) + Math.min(...ranges.map(({ most }) => most))) / 2
  return ranges.map(({ least, most }) => Math.min(most, Math.max(least, centre)))
}

/** How often each member is the largest of a draw from the posterior. */
const chancesOf = ({ covariance, means }: Posterior, step: number): Vector => {
  const size = means.length
  if (size === 1) return [1]
  const lower = cholesky(covariance)
  const normal = normals(RandomStream.make(0, ["best", step]))
  const wins = means.map(() => 0)
  const draw = means.map(() => 0)
  for (let count = 0; count < draws; count++) {
    for (let place = 0; place < size; place++) draw[place] = normal()
    let best = 0
    let largest = -Infinity
    for (let place = 0; place < size; place++) {
      const row = lower[place] ?? []
      let value = at(means, place)
      for (let k = 0; k <= place; k++) value += at(row, k) * at(draw, k)
      if (value > largest) [best, largest] = [place, value]
    }
    wins[best] = at(wins, best) + 1
  }
  return wins.map((count) => count / draws)
}

/** Standard normal draws (Box and Muller 1958). */
const normals = ({ next }: RandomStream.RandomStream): (() => number) => {
  let spare: number | null = null
  return () => {
    if (spare !== null) {
      const known = spare
      spare = null
      return known
    }
    const radius = Math.sqrt(-2 * Math.log(1 - next()))
    const angle = 2 * Math.PI * next()
    spare = radius * Math.sin(angle)
    return radius * Math.cos(angle)
  }
}

const sampleVariance = ({ samples, sum }: Comparison): number => {
  const mean = (sum + 1) / (samples + 2)
  return mean * (1 - mean)
}

/** σ²: the variance of one sample within a block, from the residuals of the model and 20 assumed ones. */
const noiseVariance = (comparison: Comparison): number => {
  const { freedom, precision, squares, weighted } = comparison
  const fitted = solve(cholesky(scaled(precision, 1, 1e-6)), weighted)
  const explained = sumAll(weighted.map((one, place) => one * at(fitted, place)))
  const residual = Math.max(0, squares - explained)
  const left = Math.max(0, freedom - weighted.length + 1)
  return (residual + assumed * 0.7 * sampleVariance(comparison)) / (left + assumed)
}

const scaled = (matrix: Matrix, divisor: number, diagonal: number): Matrix =>
  matrix.map((row, place) => row.map((one, column) => one / divisor + (place === column ? diagonal : 0)))

const add = (matrix: Array<Array<number>>, row: number, column: number, amount: number): void => {
  const own = matrix[row]
  if (own !== undefined) own[column] = at(own, column) + amount
}

/** Residuals that the noise is assumed to have before any are known. */
const assumed = 20
/** Differences up to this are no lead. */
const rounding = 1e-9
/** Draws for P(best): its standard error is at most 0.035. */
const draws = 200

const priorOf = ({ prior = defaultPrior }: Comparison): Prior => prior
