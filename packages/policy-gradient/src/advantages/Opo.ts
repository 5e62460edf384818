import { estimator, lengthsOf, perGroup, rewardsOf } from "../Estimator.ts"
import { Moments } from "@inspo/statistics"

/**
 * OPO: the reward less the mean of its group weighted by length, the baseline of least variance where the gradient grows with
 * the tokens. Σ length · advantage of a group is 0; with equal lengths it is `centred`.
 */
export const opo = estimator({
  name: "opo",
  description: "is the reward less the mean of its group weighted by length",
  formula: "A = r − ΣLr / ΣL",
  source: "OPO, arXiv 2505.23585",
  certainty: "code",
  verl: "opo",
  allowsLevels: false,
  defaults: {},
  estimate: perGroup((group) => {
    const rewards = rewardsOf(group)
    if (Moments.allEqual(rewards)) return rewards.map(() => 0)
    const baseline = Moments.weightedMean(rewards, lengthsOf(group))
    return rewards.map((reward) => reward - baseline)
  })
})
