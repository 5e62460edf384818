import { Moments } from "@inspo/statistics"
import { meanOfTokens, perToken, surrogate } from "../Surrogate.ts"

/**
 * TOPR: successes count as in supervised training, failures by their ratio of at most 1. So failures that the policy no longer
 * makes stop to push it away, without a clip of what it should learn. |g| ≤ |A|.
 */
export const topr = surrogate({
  name: "topr",
  description: "weighs failures by their ratio of at most 1, and successes fully",
  formula: "g = A if A > 0, else clip(ρ, 0, 1) · A",
  source: "TOPR (ROLL)",
  certainty: "code",
  defaults: {},
  gradient: perToken(({ advantage, ratio }) => (advantage > 0 ? 1 : Moments.clamp(ratio, 0, 1)) * advantage),
  written: meanOfTokens(
    ({ advantage, logprob }, _, held) => (advantage > 0 ? 1 : Moments.clamp(held.ratio, 0, 1)) * advantage * logprob
  )
})
