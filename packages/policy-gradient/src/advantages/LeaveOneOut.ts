import { estimator, perGroup, rewardsOf } from "../Estimator.ts"
import { Moments } from "@inspo/statistics"

/**
 * RLOO and LOOP: the reward less the mean of the others of its group. The mean gradient of a group is exactly that of the
 * mean reward, for every size of at least 2. Advantages of a group sum to 0; a group of one gets 0.
 */
export const leaveOneOut = estimator({
  name: "leave-one-out",
  description: "is the reward less the mean reward of the others of its group, as in RLOO and LOOP",
  formula: "A = r − mean of the others = n / (n − 1) · (r − mean)",
  source: "RLOO, arXiv 2402.14740; LOOP, arXiv 2502.01600",
  certainty: "code",
  verl: "rloo",
  trl: "RLOOTrainer",
  allowsLevels: true,
  defaults: {},
  estimate: perGroup((group) => {
    const factor = group.length / Math.max(1, group.length - 1)
    return Moments.centre(rewardsOf(group)).map((value) => value * factor)
  })
})
