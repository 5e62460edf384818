import { estimator, regroup, rewardsOf } from "../Estimator.ts"
import { Moments } from "@inspo/statistics"

/**
 * Rewards centred in their group and divided by the deviation of all rewards of the batch. The order within a group is kept,
 * and groups of equal rewards stay 0. One deviation for all groups weighs no group up for rewards that differ little.
 */
export const batchScaled = estimator({
  name: "batch-scaled",
  description: "is the centred reward divided by the standard deviation of all rewards of the step",
  formula: "A = (r − mean) / (sd of the batch + ε)",
  source: "Lite PPO, ScaleRL",
  certainty: "code",
  trl: "scale_rewards: batch",
  allowsLevels: false,
  defaults: { epsilon: 1e-4 },
  estimate: (groups, { epsilon }) => {
    const spread = Moments.deviation(groups.flatMap(rewardsOf))
    const centred = groups.flatMap((group) => Moments.centre(rewardsOf(group)))
    return regroup(
      groups,
      centred.map((value) => value / (spread + epsilon))
    )
  }
})
