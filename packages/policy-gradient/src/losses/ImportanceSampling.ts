import { meanOfTokens, perToken, surrogate } from "../Surrogate.ts"

/**
 * The likelihood ratio without a clip: an unbiased gradient of each token's advantage under the policy now, whose variance
 * grows with the distance from the policy of sampling.
 */
export const importanceSampling = surrogate({
  name: "importance-sampling",
  description: "weighs each token by its ratio, without a clip",
  formula: "g = ρA",
  source: "Tinker, importance_sampling",
  certainty: "code",
  defaults: {},
  gradient: perToken(({ advantage, ratio }) => ratio * advantage),
  written: meanOfTokens(({ advantage, ratio }) => ratio * advantage)
})
