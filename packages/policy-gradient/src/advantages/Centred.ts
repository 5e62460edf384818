import { centre, type Estimator } from "../Estimator.ts"

/**
 * Dr. GRPO: the reward less the mean of its group. Unlike Eq. 3 it does not weigh up groups whose rewards differ little, so
 * instructions may share a group.
 *
 * Its gradient is the unbiased one of the expected reward, up to a factor that depends on the size of a group alone.
 * Advantages of a group sum to 0; a group of one or with equal rewards gets zeros.
 */
export const centred: Estimator<"centred"> = {
  name: "centred",
  description: "is the reward less the mean of its group, as in Dr. GRPO",
  allowsLevels: true,
  ofGroup: centre
}
