import { estimator, perGroup, rewardsOf } from "../Estimator.ts"
import { Moments } from "@inspo/statistics"

/**
 * Dr. GRPO: the reward less the mean of its group. Unlike Eq. 3 it does not weigh up groups whose rewards differ little, so
 * instructions may share a group.
 *
 * Its gradient is the unbiased one of the expected reward, up to a factor that depends on the size of a group alone.
 * Advantages of a group sum to 0; a group of one or with equal rewards gets zeros.
 */
export const centred = estimator({
  name: "centred",
  description: "is the reward less the mean of its group, as in Dr. GRPO",
  formula: "A = r − mean",
  source: "Dr. GRPO, arXiv 2503.20783",
  certainty: "code",
  verl: "grpo with norm_adv_by_std_in_grpo: false",
  trl: "scale_rewards: none",
  allowsLevels: true,
  defaults: {},
  estimate: perGroup((group) => Moments.centre(rewardsOf(group)))
})
