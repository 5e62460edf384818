import { estimator, perGroup, rewardsOf } from "../Estimator.ts"
import { Method } from "@inspo/domain"
import { Moments } from "@inspo/statistics"

/**
 * Pass@k by its best rollout: that one gets its lead over the second, the others 0. With rewards of 0 and 1, n times the mean
 * gradient without division is ∇pass@n. It is 0 where two share the first place.
 */
export const bestOfGroup = estimator({
  name: "best-of-group",
  description: "gives the best of a group its lead over the second, and 0 to the others",
  formula: "best: (r₁ − r₂) / (sd + ε), others: 0",
  source: "arXiv 2503.19595",
  certainty: "code",
  verl: "grpo_passk",
  allowsLevels: false,
  defaults: { epsilon: 1e-6, divide: Method.on },
  estimate: perGroup((group, { divide, epsilon }) => {
    const rewards = rewardsOf(group)
    const [first = 0, second = first] = rewards.toSorted((a, b) => b - a)
    const lead = first === second ? 0 : (first - second) / (divide ? Moments.deviation(rewards) + epsilon : 1)
    return rewards.map((reward) => (reward === first ? lead : 0))
  })
})
