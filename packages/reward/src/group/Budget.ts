import { groupReward, perAttempt } from "../GroupReward.ts"
import { Method } from "@inspo/domain"

/**
 * HBPO: a success within an announced budget of tokens; it earns most at the budget and less beyond. Without a budget shorter
 * is better. Beyond the limit it earns nothing. Use it with the advantage `budgeted`.
 */
export const budget = groupReward({
  name: "budget",
  description: "rewards a success by how well it keeps an announced budget of tokens",
  formula: "r = min(f(n) − |n − b| / 4096, f(b)), f(n) = 4 · cos(π · n / 8192); 0 for failures and n > 4096",
  source: "HBPO, arXiv 2507.15844",
  certainty: "code",
  needs: "budgets that are announced to rollouts",
  defaults: { limit: 4096 },
  compute: perAttempt(({ budget, length, reward }, { limit }) => {
    const f = (tokens: number) => 4 * Math.cos((Math.PI * tokens) / (2 * limit))
    const announced = budget === null ? null : Method.required("budget", "budget", budget)
    if (reward <= 0 || length > limit) return 0
    return announced === null ? f(length) : Math.min(f(length) - Math.abs(length - announced) / limit, f(announced))
  })
})
