import { Moments } from "@inspo/statistics"
import { weighing } from "../Surrogate.ts"

/**
 * CISPO: the ratio is a bounded weight that takes no gradient, so that no token is lost, however far its ratio is. verl also
 * bounds it from below. TRL's `epsilon_high` is the bound itself, so `high` is one less.
 */
export const cispo = weighing({
  name: "cispo",
  description: "bounds the ratio as a weight, so that no token loses its gradient",
  formula: "g = clip(ρ, 1 − low, 1 + high) · A",
  source: "CISPO of MiniMax-M1",
  certainty: "code",
  verl: "cispo",
  trl: "cispo",
  defaults: { low: 1, high: 0.2 },
  factor: ({ ratio }, { high, low }) => Moments.clamp(ratio, 1 - low, 1 + high)
})
