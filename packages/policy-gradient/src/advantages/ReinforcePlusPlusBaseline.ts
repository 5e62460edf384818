import { estimator, lengthsOf, regroup, rewardsOf } from "../Estimator.ts"
import { Moments } from "@inspo/statistics"

/**
 * REINFORCE++ with a baseline: rewards centred in their group, then whitened over all action tokens of the batch. It differs
 * from `batch-scaled` in the tokens that the deviation is of.
 */
export const reinforcePlusPlusBaseline = estimator({
  name: "reinforce-plus-plus-baseline",
  description: "is the centred reward whitened over all action tokens of the step",
  formula: "A = whitened over tokens (r − mean)",
  source: "REINFORCE++, arXiv 2501.03262",
  certainty: "code",
  verl: "reinforce_plus_plus_baseline",
  allowsLevels: false,
  defaults: { epsilon: 1e-8 },
  estimate: (groups, { epsilon }) =>
    regroup(
      groups,
      Moments.whiten(
        groups.flatMap((group) => Moments.centre(rewardsOf(group))),
        groups.flatMap(lengthsOf),
        epsilon
      )
    )
})
