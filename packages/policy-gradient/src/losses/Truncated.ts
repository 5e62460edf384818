import { Moments } from "@inspo/statistics"
import { weighing } from "../Surrogate.ts"

/**
 * Truncated importance sampling as a loss: each token counts by its ratio of at most `bound`, which takes no gradient. Unlike
 * `topr` it truncates successes too. |g| ≤ bound · |A|.
 */
export const truncated = weighing({
  name: "truncated",
  description: "weighs each token by its ratio of at most 1",
  formula: "g = clip(ρ, 0, bound) · A",
  source: "TIS (ROLL)",
  certainty: "code",
  defaults: { bound: 1 },
  factor: ({ ratio }, { bound }) => Moments.clamp(ratio, 0, bound)
})
