import { estimator, perGroup, rewardsOf } from "../Estimator.ts"
import { Moments } from "@inspo/statistics"

/** Eq. 3 of the INSPO paper, as in GRPO. Advantages of a group sum to 0; equal rewards get zeros. */
export const standardised = estimator({
  name: "standardised",
  description: "is the centred reward divided by the standard deviation of its group (Eq. 3)",
  formula: "A = (r − mean) / (sd + ε)",
  source: "GRPO; Eq. 3 of the INSPO paper",
  certainty: "code",
  verl: "grpo",
  trl: "scale_rewards: group",
  allowsLevels: false,
  defaults: { epsilon: 1e-6 },
  estimate: perGroup((group, { epsilon }) => Moments.standardise(rewardsOf(group), epsilon))
})
