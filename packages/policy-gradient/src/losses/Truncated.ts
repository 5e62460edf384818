import { Moments } from "@inspo/statistics"
import { meanOfTokens, perToken, surrogate } from "../Surrogate.ts"

/**
 * Truncated importance sampling as a loss: each token counts by its ratio of at most `bound`, which takes no gradient. Unlike
 * `topr` it truncates successes too. |g| ≤ bound · |A|.
 */
export const truncated = surrogate({
  name: "truncated",
  description: "weighs each token by its ratio of at most 1",
  formula: "g = clip(ρ, 0, bound) · A",
  source: "TIS (ROLL)",
  certainty: "code",
  defaults: { bound: 1 },
  gradient: perToken(({ advantage, ratio }, { bound }) => Moments.clamp(ratio, 0, bound) * advantage),
  written: meanOfTokens(
    ({ advantage, logprob }, { bound }, held) => Moments.clamp(held.ratio, 0, bound) * advantage * logprob
  )
})
