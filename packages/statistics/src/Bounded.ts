import type { Interval } from "./Interval.ts"
import { tQuantile } from "./Exact.ts"
import * as PairedShares from "./internal/PairedShares.ts"

/**
 * An interval of the mean of at least one independent difference in [-1, 1], which misses on each side with a probability of at most `risk`
 * where all are -1, 0 or 1: exact, for any number of them ({@link PairedShares.lowerBound}). Of others it misses with about that probability:
 * the t-interval corrected for skewness (Hall, 1992), with one more difference of 1 and one of -1 (Bonett and Price, 2012): smaller ones
 * would miss a rare total failure in one of five small samples. Each end is the outer one of those for the skewness with them and without.
 *
 * @example
 * ```ts
 * import { Bounded } from "@inspo/statistics"
 *
 * Bounded.differenceInterval([0, 0, 0, 0]) // ≈ [-0.53, 0.53]
 * ```
 */
export const differenceInterval = (differences: ReadonlyArray<number>, risk = 0.05): Interval => {
  const count = (value: number) => differences.filter((one) => one === value).length
  const [all, gains, losses] = [differences.length, count(1), count(-1)]
  if (gains + losses + count(0) === all) {
    const errors = tQuantile(1 - 2 * risk, Math.max(1, all - 1))
    const boundOf = (up: number, down: number) =>
      PairedShares.lowerBound({ all, gains: up, losses: down }, risk, errors)
    return [boundOf(gains, losses), -boundOf(losses, gains)]
  }
  const { mean, n, variance } = padded(differences, 1)
  const cubes = (values: ReadonlyArray<number>, centre: number) =>
    values.reduce((sum, one) => sum + (one - centre) ** 3, 0)
  const own = cubes(differences, (mean * n) / all)
  const skewnesses = [own, cubes([...differences, 1, -1], mean)].map((one) => one / (n * variance) ** 1.5)
  const errors = tQuantile(1 - 2 * risk, n - 1)
  const ends = (quantile: number) =>
    skewnesses.map((skewness) => mean - Math.sqrt(variance / (n - 1)) * unskewed(quantile, skewness))
  return [Math.max(-1, Math.min(...ends(errors))), Math.min(1, Math.max(...ends(-errors)))]
}

/**
 * The t-interval of the mean of numbers in [-1, 1] with two more, as large as the largest and at least 1/2, and errors for 0.8 of the
 * `risk`: for means far from 0 of few numbers, where the correction of {@link differenceInterval} misses more often.
 */
export const meanInterval = (values: ReadonlyArray<number>, risk: number): Interval => {
  const largest = Math.max(...values.map(Math.abs))
  const { mean, n, variance } = padded(values, largest === 0 ? 1 : Math.max(1 / 2, largest))
  const half = tQuantile(1 - 1.6 * risk, n - 1) * Math.sqrt(variance / (n - 1))
  return [Math.max(-1, mean - half), Math.min(1, mean + half)]
}

/** Numbers with one more up and one down, of the size `added`. */
const padded = (values: ReadonlyArray<number>, added: number) => {
  const n = values.length + 2
  const mean = values.reduce((sum, one) => sum + one, 0) / n
  const square = (values.reduce((sum, one) => sum + one * one, 0) + 2 * added * added) / n
  return { mean, n, variance: square - mean * mean }
}

/** Hall's transformation of a quantile for a mean whose distribution has a skewness. */
const unskewed = (quantile: number, skewness: number): number =>
  Math.abs(skewness) < 1e-6 ? quantile : (3 / skewness) * (Math.cbrt(1 + skewness * (quantile - skewness / 6)) - 1)

/**
 * An upper bound of the mean of independent numbers in [-1, 1], which is below it after any of them with a probability of at most `risk`:
 * also if their number depends on what they are. For each possible mean, money is bet that the true one is smaller (Waudby-Smith and
 * Ramdas, 2024); a mean is excluded once the money has grown to 1 / `risk`.
 *
 * @example
 * ```ts
 * import { Bounded } from "@inspo/statistics"
 *
 * Bounded.upperBound(Array.from({ length: 60 }, () => 0), 0.05) // ≈ 0.06
 * ```
 */
export const upperBound = (values: ReadonlyArray<number>, risk: number, bets: Bets = rareBets): number =>
  upperBoundOf(countsOf(values), risk, bets)

/** {@link upperBound} of numbers that are given with their counts. */
export const upperBoundOf = (counts: ReadonlyMap<number, number>, risk: number, bets: Bets = rareBets): number => {
  let [low, high] = [-1, 1]
  for (let halving = 0; halving < 30; halving++) {
    const middle = (low + high) / 2
    if (moneyLog(counts, middle, 1, bets) < -Math.log(risk)) low = middle
    else high = middle
  }
  return high
}

/**
 * About how many numbers like these bring the bound of {@link upperBound} within `width` of their mean; at least as many as there are,
 * and null if no number does, or without any.
 */
export const neededFor = (values: ReadonlyArray<number>, width: number, risk: number): number | null => {
  if (values.length === 0) return null
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return mean + width >= 1 ? values.length : neededBelow(values, mean + width, risk)
}

/** About how many numbers like these exclude a `mean` from below, as {@link evidence} does; null if no number does. */
export const neededBelow = (
  values: ReadonlyArray<number>,
  mean: number,
  risk: number,
  bets: Bets = rareBets
): number | null => {
  const counts = countsOf(values)
  for (let times = 1; times < 1e6; times *= 1.05)
    if (moneyLog(counts, mean, times, bets) >= -Math.log(risk)) return Math.ceil(times * values.length)
  return null
}

/**
 * The evidence that the mean of numbers in [-1, 1] is below `mean`: the logarithm of what the bets are worth. If it is not, the evidence
 * ever reaches log(1 / risk) with a probability of at most `risk`.
 */
export const evidence = (values: ReadonlyArray<number>, mean: number, bets: Bets = rareBets): number =>
  moneyLog(countsOf(values), mean, 1, bets)

/** The parts of the money, together 1, and what each bets of the most that can be. */
export type Bets = ReadonlyArray<{ readonly fraction: number; readonly share: number }>

const countsOf = (values: ReadonlyArray<number>): ReadonlyMap<number, number> => {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

/** The logarithm of what one unit of money is worth, if the mean is bet to be below `mean` on these numbers, so many `times`. */
const moneyLog = (counts: ReadonlyMap<number, number>, mean: number, times: number, bets: Bets): number => {
  const logs = bets.map(({ fraction, share }) => {
    let sum = Math.log(share)
    for (const [value, count] of counts)
      sum += times * count * Math.log1p(Math.max(-1, (fraction * (mean - value)) / (1 - mean)))
    return sum
  })
  const most = Math.max(...logs)
  return most === -Infinity ? most : most + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - most), 0))
}

/** Half of the money bets all of it, which is best for what hardly ever happens. */
const rareBets: Bets = Array.from({ length: 9 }, (_, place) => ({
  fraction: 2 ** -place,
  share: place === 0 ? 1 / 2 : 1 / 16
}))

/** Most of the money is spread over what is best for differences that a hundred to a thousand pairs can show. */
export const pairedBets: Bets = [
  { fraction: 1, share: 1 / 4 },
  ...Array.from({ length: 8 }, (_, place) => ({ fraction: 12 ** -((place + 1 / 2) / 8), share: 3 / 32 }))
]
