import { estimator, perGroup, rewardsOf } from "../Estimator.ts"

/**
 * The reward itself: at ratio 1 the gradient is that of the log-likelihood of what was rewarded, as rejection sampling and
 * supervised fine-tuning have it.
 *
 * It compares nothing within a group, so the members of a group do not affect one another. Rewards of 0 leave the policy as it
 * is, whatever the others of the group earned.
 */
export const plain = estimator({
  name: "reward",
  description: "is the reward itself, as in rejection sampling",
  formula: "A = r",
  source: "rejection sampling",
  certainty: "text",
  allowsLevels: false,
  defaults: {},
  estimate: perGroup(rewardsOf)
})
