/** The mean of exact scores, by those of some cases and what a judge says of all (Angelopoulos et al., 2023). */
import { meanInterval } from "./Bounded.ts"
import { tQuantile } from "./Exact.ts"
import { mean as average } from "./Moments.ts"

/** A case with an exact score, and the one of the judge. */
export interface Labelled {
  readonly exact: number
  readonly judged: number
}

/** A mean with its interval, and how much the judge counts: 0 where it says nothing of the exact scores. */
export interface Corrected {
  readonly mean: number
  readonly lower: number
  readonly upper: number
  readonly weight: number
}

/**
 * The mean over all cases, of which `others` have the judge's score alone; each score is in [-1, 1]. The labelled cases must be a random
 * choice. The mean is then unbiased, whatever the judge: each half of them is corrected by the weight that the other half finds
 * best. The interval misses on either side with a probability of about `risk`.
 *
 * @example
 * ```ts
 * import { PredictionPowered } from "@inspo/statistics"
 *
 * const labelled = [0, 0, 1, 1].map((exact) => ({ exact, judged: exact / 2 + 0.5 }))
 * PredictionPowered.mean(labelled, [0.5, 1, 1, 1]).mean // 0.58…
 * ```
 */
export const mean = (labelled: ReadonlyArray<Labelled>, others: ReadonlyArray<number>, risk = 0.05): Corrected => {
  const halves = [0, 1].map((half) => labelled.filter((_, at) => at % 2 === half))
  const weights = halves.map((_, half) => weightOf(halves[1 - half] ?? [], labelled.length, others.length))
  const predicted = others.length === 0 ? 0 : average(others)
  const corrected = labelled.map(({ exact, judged }, at) => exact - (weights[at % 2] ?? 0) * (judged - predicted))
  const centre = average(corrected)
  const weight = average(labelled.map((_, at) => weights[at % 2] ?? 0))
  const [low, high] = meanInterval(corrected, risk)
  const noise =
    others.length < 2
      ? 0
      : (weight * tQuantile(1 - 2 * risk, others.length - 1)) ** 2 * (covariance(others, others) / others.length)
  return {
    mean: centre,
    lower: Math.max(-1, centre - Math.sqrt((centre - low) ** 2 + noise)),
    upper: Math.min(1, centre + Math.sqrt((high - centre) ** 2 + noise)),
    weight
  }
}

/** The weight with the least variance (Angelopoulos, Duchi and Zrnic, 2023), by a part of the labelled cases. */
const weightOf = (part: ReadonlyArray<Labelled>, labelled: number, others: number): number => {
  const [exact, judged] = [part.map((one) => one.exact), part.map((one) => one.judged)]
  const variance = part.length < 2 ? 0 : covariance(judged, judged)
  if (variance === 0) return 0
  return Math.min(1, Math.max(0, ((covariance(exact, judged) / variance) * others) / (labelled + others)))
}

const covariance = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): number => {
  const [first, second] = [average(one), average(other)]
  return one.reduce((sum, value, at) => sum + (value - first) * ((other[at] ?? 0) - second), 0) / (one.length - 1)
}
