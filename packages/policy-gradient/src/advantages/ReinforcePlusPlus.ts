import { estimator, lengthsOf, regroup, rewardsOf } from "../Estimator.ts"
import { Moments } from "@inspo/statistics"

/**
 * REINFORCE++: the rewards of the batch, whitened over all its action tokens. No group is compared by itself, so that a
 * question that every rollout solved is still praised. Over the tokens the mean is 0 and the deviation 1.
 */
export const reinforcePlusPlus = estimator({
  name: "reinforce-plus-plus",
  description: "is the reward whitened over all action tokens of the step, without groups",
  formula: "A = (r − mean over tokens) / √(variance over tokens + ε)",
  source: "REINFORCE++, arXiv 2501.03262",
  certainty: "code",
  verl: "reinforce_plus_plus",
  allowsLevels: false,
  defaults: { epsilon: 1e-8 },
  estimate: (groups, { epsilon }) =>
    regroup(groups, Moments.whiten(groups.flatMap(rewardsOf), groups.flatMap(lengthsOf), epsilon))
})
