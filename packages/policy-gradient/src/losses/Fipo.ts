import { Moments } from "@inspo/statistics"
import { clippedObjective, clippedWeight, logRatios, type Sequence, surrogate, tokensOf } from "../Surrogate.ts"

/**
 * FIPO: the clipped surrogate, where a token counts more if the policy now makes what follows it more probable. The factor is
 * in [1, 1 + high]; for a failure whose own ratio exceeds `safe` it is at most 1. On-policy it is 1.
 */
export const fipo = surrogate({
  name: "fipo",
  description: "weighs the clipped surrogate of a token by the ratios of the tokens that follow it",
  formula: "g = f · (clip's g), f = clip(exp(Σ γ^(k − t) · log ρ_k over k ≥ t), 1 − low, 1 + high)",
  source: "FIPO (ms-swift)",
  certainty: "code",
  defaults: { low: 0, high: 0.2, gamma: 2 ** (-1 / 32), safe: 4, clip: 0.2 },
  gradient: (sequence, constants) => {
    const factors = factorsOf(sequence, constants)
    const bounds = { low: constants.clip, high: constants.clip }
    return tokensOf(sequence).map(
      ({ advantage, ratio }, index) => (factors[index] ?? 1) * clippedWeight(ratio, advantage, bounds)
    )
  },
  written: (sequence, constants, held) => {
    const factors = factorsOf(held, constants)
    const bounds = { low: constants.clip, high: constants.clip }
    const tokens = tokensOf(sequence)
    return tokens.reduce(
      (sum, { advantage, ratio }, index) =>
        sum + ((factors[index] ?? 1) * clippedObjective(ratio, advantage, bounds)) / tokens.length,
      0
    )
  }
})

const factorsOf = (
  sequence: Sequence,
  { gamma, high, low, safe }: Readonly<Record<"gamma" | "high" | "low" | "safe", number>>
): ReadonlyArray<number> => {
  const factors = [...logRatios(sequence)]
  let future = 0
  for (let token = factors.length - 1; token >= 0; token--) {
    const log = factors[token] ?? 0
    const advantage = sequence.advantages[token] ?? 0
    future = log + gamma * future
    // 0.8 is the least factor of a failure far from its sampling, whatever `low` is.
    const [least, most] = advantage < 0 && Math.exp(log) > safe ? [0.8, 1] : [1 - low, 1 + high]
    factors[token] = Moments.clamp(Math.exp(future), least, most)
  }
  return factors
}
