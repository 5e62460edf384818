import { type Bounds, clippedObjective, clippedWeight, meanOfTokens, perToken, surrogate } from "../Surrogate.ts"

/**
 * The clipped surrogate of PPO, as in GRPO. With `high` above `low` it is DAPO's clip-higher, which lets rare tokens grow more.
 * A `dual` above 0 also bounds the ratio of tokens with a negative advantage. Then |g| ≤ dual · |A|.
 */
export const clip = surrogate({
  name: "clip",
  description: "clips the ratio of each token; two bounds are clip-higher, and a third is the dual clip",
  formula: "g = ρA; 0 if A > 0 and ρ > 1 + high, or A < 0 and (ρ < 1 − low or ρ > dual)",
  source: "PPO; DAPO; dual clip; INTELLECT-2",
  certainty: "code",
  verl: "vanilla, clip_ratio_low, clip_ratio_high, clip_ratio_c",
  trl: "grpo, epsilon, epsilon_high, delta",
  defaults: { low: 0.2, high: 0.2, dual: 0 },
  gradient: perToken(({ advantage, ratio }, bounds) => clippedWeight(ratio, advantage, bounded(bounds))),
  written: meanOfTokens(({ advantage, ratio }, bounds) => clippedObjective(ratio, advantage, bounded(bounds)))
})

/** 0 is no third bound. */
const bounded = (bounds: Required<Bounds>): Bounds => ({ ...bounds, dual: bounds.dual > 0 ? bounds.dual : Infinity })
