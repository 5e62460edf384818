import { sumAll } from "effect/Number"
import { groupReward, perAttempt } from "../GroupReward.ts"
import { Moments } from "@inspo/statistics"

const prices: Readonly<Record<string, number>> = { defer: 0.3, create: 0.1 }

/**
 * HILA, and HC-GRPO's costs per action: each call of a tool has a price. The published ones are those of deferring to an expert
 * and of solving again; name your own tools. Without prices it is the plain reward.
 */
export const costs = groupReward({
  name: "costs",
  description: "takes the price of each call of a tool from the reward",
  formula: "r − Σ price · calls",
  source: "HILA, arXiv 2603.07972",
  certainty: "code",
  defaults: { prices },
  compute: perAttempt(
    ({ calls, reward }, { prices }) =>
      reward - sumAll(Object.entries(calls).map(([tool, count]) => (prices[tool] ?? 0) * count))
  )
})

/**
 * APO of A²FM, by whether a tool was called: a success with tools earns less on questions that the group solves without any.
 * The combination of its terms is not published; this is their product. It never exceeds the plain reward.
 */
export const adaptiveTools = groupReward({
  name: "adaptive-tools",
  description: "lowers the reward of rollouts with tools where those without tools succeed",
  formula: "r · (1 − p^α) with tools, p = success rate of the group without tools",
  source: "A²FM, arXiv 2510.12838",
  certainty: "part",
  isNeverNegative: true,
  defaults: { alpha: 2 },
  compute: (group, { alpha }) => {
    const instant = group.filter(({ calls }) => sumAll(Object.values(calls)) === 0)
    const p = Moments.mean(instant.map(({ reward }) => (reward > 0 ? 1 : 0)))
    return group.map((attempt) => attempt.reward * (instant.includes(attempt) ? 1 : 1 - p ** alpha))
  }
})
