import { estimator, perGroup, rewardsOf } from "../Estimator.ts"
import { Moments } from "@inspo/statistics"
import { boundedShaping } from "../Shaping.ts"

/**
 * ASPO: among the successes of a group that called a tool, those that called it earlier get more. The change is bounded by a
 * share of the advantage, so that no success is punished. Rollouts that failed or called no tool are untouched.
 */
export const earlyTool = estimator({
  name: "early-tool",
  description: "is GRPO, with more for the successes of a group that called a tool early",
  formula: "A = GRPO + clip(δ · (p − mean p) / mean L, ±k · GRPO) for successes with a tool",
  source: "ASPO, arXiv 2508.19201",
  certainty: "text",
  allowsLevels: false,
  defaults: { delta: -2, bound: 0.7, epsilon: 1e-6 },
  estimate: perGroup((group, { bound, delta, epsilon }) => {
    const advantages = Moments.standardise(rewardsOf(group), epsilon)
    const shaped = group.flatMap(({ firstCall, length, reward }, index) =>
      firstCall !== null && reward > 0 && (advantages[index] ?? 0) > 0 ? [{ index, firstCall, length }] : []
    )
    const middle = Moments.mean(shaped.map(({ firstCall }) => firstCall))
    const scale = Moments.mean(shaped.map(({ length }) => length))
    const changes = new Map(shaped.map(({ firstCall, index }) => [index, (delta * (firstCall - middle)) / scale]))
    return boundedShaping(
      advantages,
      advantages.map((_, index) => changes.get(index) ?? 0),
      bound
    )
  })
})
