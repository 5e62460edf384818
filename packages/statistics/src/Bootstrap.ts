import { RandomStream } from "@inspo/domain"
import { mean, quantileSorted } from "simple-statistics"
import type { Interval } from "./Interval.ts"

/** The number of `resamples`; equal seeds and sizes of the strata give the same resamples. */
export interface Options {
  readonly resamples: number
  readonly seed: number
}

/** The 95 % intervals of the mean of each stratum, of all values, and of the mean of the strata's means. */
export interface Intervals {
  readonly strata: ReadonlyArray<Interval | null>
  readonly overall: Interval | null
  readonly macro: Interval | null
}

/**
 * Percentile bootstrap (Efron, 1979) of means, one value per question: every resample draws the questions of each stratum with
 * replacement from that stratum, so that a mean over sources keeps its sources. An interval is null if all values are equal,
 * since resampling then cannot estimate the uncertainty.
 *
 * @example
 * ```ts
 * import { Bootstrap } from "@inspo/statistics"
 *
 * Bootstrap.bootstrap([[1, 0, 1, 1], [0, 0, 1]], { resamples: 2000, seed: 1 }).macro // about [0.21, 0.88]
 * ```
 */
export const bootstrap = (strata: ReadonlyArray<ReadonlyArray<number>>, options: Options): Intervals => {
  const filled = strata.filter((values) => values.length > 0)
  const total = filled.reduce((sum, values) => sum + values.length, 0)
  const draws = resampledMeans(filled, options)
  const combined = (weight: (stratum: number) => number) =>
    Array.from({ length: options.resamples }, (_, resample) =>
      draws.reduce((sum, means, stratum) => sum + weight(stratum) * (means[resample] ?? 0), 0)
    )
  const isSpread = filled.map((values) => values.some((value) => value !== values[0]))
  const intervals = filled.map((_, stratum) => (isSpread[stratum] === true ? percentiles(draws[stratum] ?? []) : null))
  const ifSpread = (means: () => ReadonlyArray<number>) => (isSpread.includes(true) ? percentiles(means()) : null)
  return {
    strata: strata.map((values) => (values.length === 0 ? null : (intervals[filled.indexOf(values)] ?? null))),
    overall: ifSpread(() => combined((stratum) => (filled[stratum]?.length ?? 0) / total)),
    macro: ifSpread(() => combined(() => 1 / filled.length))
  }
}

const resampledMeans = (
  strata: ReadonlyArray<ReadonlyArray<number>>,
  { resamples, seed }: Options
): ReadonlyArray<ReadonlyArray<number>> => {
  const { next } = RandomStream.make(seed, ["bootstrap"])
  return strata.map((values) =>
    Array.from({ length: resamples }, () => {
      let sum = 0
      for (let drawn = 0; drawn < values.length; drawn++) sum += values[Math.floor(next() * values.length)] ?? 0
      return sum / values.length
    })
  )
}

const percentiles = (means: ReadonlyArray<number>): Interval => {
  const sorted = means.toSorted((a, b) => a - b)
  return [quantileSorted(sorted, 0.025), quantileSorted(sorted, 0.975)]
}

/** The mean, or null without values. */
export const meanOf = (values: ReadonlyArray<number>): number | null => (values.length === 0 ? null : mean([...values]))
