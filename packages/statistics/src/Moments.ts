/** Means and deviations as estimators of advantages need them. */
import { sumAll } from "effect/Number"

/** 0 for no values. */
export const mean = (values: ReadonlyArray<number>): number =>
  values.length === 0 ? 0 : sumAll(values) / values.length

/** The standard deviation with n − `freedom` below the line; 0 for too few values. */
export const deviation = (values: ReadonlyArray<number>, freedom: 0 | 1 = 1): number => {
  if (values.length <= freedom) return 0
  const centre = mean(values)
  return Math.sqrt(sumAll(values.map((value) => (value - centre) ** 2)) / (values.length - freedom))
}

export const allEqual = (values: ReadonlyArray<number>): boolean => values.every((value) => value === values[0])

/** Values less their mean. Equal values get zeros: by rounding their mean can differ from them, which a deviation magnifies. */
export const centre = (values: ReadonlyArray<number>): ReadonlyArray<number> => {
  if (allEqual(values)) return values.map(() => 0)
  const middle = mean(values)
  return values.map((value) => value - middle)
}

/** Centred values divided by their standard deviation plus `epsilon`; zeros for equal values. */
export const standardise = (values: ReadonlyArray<number>, epsilon: number): ReadonlyArray<number> => {
  const centred = centre(values)
  if (centred.every((value) => value === 0)) return centred
  const spread = Math.sqrt(sumAll(centred.map((value) => value * value)) / (values.length - 1))
  return centred.map((value) => value / (spread + epsilon))
}

/** Values of given weights, less their weighted mean and divided by their weighted deviation, as of so many single values. */
export const whiten = (
  values: ReadonlyArray<number>,
  weights: ReadonlyArray<number>,
  epsilon: number
): ReadonlyArray<number> => {
  const count = sumAll(weights)
  if (count <= 1 || allEqual(values)) return values.map(() => 0)
  const middle = weightedMean(values, weights)
  const squares = values.map((value) => (value - middle) ** 2)
  const variance = (weightedMean(squares, weights) * count) / (count - 1)
  return values.map((value) => (value - middle) / Math.sqrt(variance + epsilon))
}

/** The mean of values, each counted as often as its weight says. */
export const weightedMean = (values: ReadonlyArray<number>, weights: ReadonlyArray<number>): number =>
  sumAll(values.map((value, index) => value * (weights[index] ?? 0))) / sumAll(weights)

export const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high)

/** The logistic function, without an overflow. */
export const logistic = (value: number): number =>
  value >= 0 ? 1 / (1 + Math.exp(-value)) : Math.exp(value) / (1 + Math.exp(value))
