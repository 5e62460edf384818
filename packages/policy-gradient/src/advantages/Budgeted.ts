import { estimator, perGroup, rewardsOf } from "../Estimator.ts"
import { Method } from "@inspo/domain"
import { Moments } from "@inspo/statistics"

/**
 * HBPO: GRPO plus how the rollouts of the same announced budget did against the best that the budget allows. The second term is
 * equal for rollouts of one budget, so one budget keeps the order of GRPO. It is added once, as the paper has it; the
 * published code adds it twice.
 */
export const budgeted = estimator({
  name: "budgeted",
  description: "is GRPO plus the mean of the rollouts of the same budget less its best, as in HBPO",
  formula: "A = GRPO + mean of the subgroup of budget b − 4 · cos(π · b / 8192)",
  source: "HBPO, arXiv 2507.15844",
  certainty: "code",
  needs: "budgets that are announced to rollouts",
  allowsLevels: false,
  defaults: { limit: 4096, epsilon: 1e-6 },
  estimate: perGroup((group, { epsilon, limit }) => {
    const budgets = group.map(({ budget }) => Method.required("budgeted", "budget", budget))
    return Moments.standardise(rewardsOf(group), epsilon).map((value, index) => {
      const budget = budgets[index] ?? limit
      const subgroup = group.filter((member) => member.budget === budget)
      return value + Moments.mean(rewardsOf(subgroup)) - 4 * Math.cos((Math.PI * budget) / (2 * limit))
    })
  })
})
