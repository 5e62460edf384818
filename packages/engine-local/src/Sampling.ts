/**
 * How a token is drawn. `temperature` 0 takes the likeliest; `topK` keeps so many of the likeliest tokens, and `topP` in
 * (0, 1] the likeliest of those that have that share of their mass.
 */
export interface SamplingOptions {
  readonly temperature: number
  readonly topP: number
  readonly topK?: number | undefined
}

/**
 * The token that the uniform draw `u` in [0, 1) selects from `probabilities`, by inverting their cumulative sum.
 *
 * A temperature T other than 1 draws in proportion to p^(1/T); T = 0 gives the likeliest token, the first of equals.
 * With `topP` below 1 only the fewest likeliest tokens whose mass reaches it can be drawn (nucleus sampling, Holtzman
 * et al., 2020). `probabilities` sum to 1 up to rounding; a token of probability 0 is never drawn.
 */
export const draw = (probabilities: Float32Array, u: number, options: SamplingOptions): number => {
  if (options.temperature === 0) return likeliest(probabilities)
  const { topK = Infinity } = options
  if (options.temperature === 1 && options.topP >= 1 && topK >= probabilities.length) return invert(probabilities, u)
  const weights = temper(probabilities, options.temperature)
  if (topK < weights.length) keepLikeliest(weights, topK)
  if (options.topP < 1) keepNucleus(weights, options.topP)
  return invert(weights, u * sum(weights))
}

const likeliest = (values: Float32Array): number => {
  let best = 0
  for (let i = 1; i < values.length; i++) if ((values[i] ?? 0) > (values[best] ?? 0)) best = i
  return best
}

/** The first index whose cumulative weight exceeds `target`, or the last of positive weight. */
const invert = (weights: Float32Array | Float64Array, target: number): number => {
  let cumulative = 0
  let last = 0
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i] ?? 0
    if (weight > 0) {
      cumulative += weight
      last = i
      if (target < cumulative) return i
    }
  }
  return last
}

/** p^(1/T), scaled by the largest so that no temperature underflows all of them. */
const temper = (probabilities: Float32Array, temperature: number): Float64Array => {
  const largest = probabilities[likeliest(probabilities)] ?? 1
  return Float64Array.from(probabilities, (p) => (p / largest) ** (1 / temperature))
}

/** The likeliest first; of equals the one of the lower id. */
const byLikelihood = (weights: Float64Array): ReadonlyArray<number> =>
  Array.from(weights.keys()).sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0) || a - b)

const keepLikeliest = (weights: Float64Array, count: number): void => {
  for (const index of byLikelihood(weights).slice(count)) weights[index] = 0
}

const keepNucleus = (weights: Float64Array, topP: number): void => {
  const order = byLikelihood(weights)
  const mass = topP * sum(weights)
  let kept = 0
  for (const index of order) {
    if (kept >= mass) weights[index] = 0
    else kept += weights[index] ?? 0
  }
}

const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0)
