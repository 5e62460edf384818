import { Moments } from "@inspo/statistics"
import { weighing } from "../Surrogate.ts"

/**
 * TOPR: successes count as in supervised training, failures by their ratio of at most 1. So failures that the policy no longer
 * makes stop to push it away, without a clip of what it should learn. |g| ≤ |A|.
 */
export const topr = weighing({
  name: "topr",
  description: "weighs failures by their ratio of at most 1, and successes fully",
  formula: "g = A if A > 0, else clip(ρ, 0, 1) · A",
  source: "TOPR (ROLL)",
  certainty: "code",
  defaults: {},
  factor: ({ advantage, ratio }) => (advantage > 0 ? 1 : Moments.clamp(ratio, 0, 1))
})
