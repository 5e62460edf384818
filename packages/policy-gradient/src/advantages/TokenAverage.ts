import { estimator, lengthsOf, perGroup, rewardsOf } from "../Estimator.ts"
import { Moments } from "@inspo/statistics"

/**
 * The token-level average of HAPO: mean and deviation of a group over its action tokens, each of which has the reward of its
 * rollout. Σ length · advantage of a group is 0. Where an advantage reaches the limit, the group gets that of GRPO.
 */
export const tokenAverage = estimator({
  name: "token-average",
  description: "is the reward standardised by the mean and the deviation over the action tokens of its group",
  formula: "A = (r − m) / (√v + ε), m and v over tokens; GRPO if |A| ≥ 5",
  source: "HAPO (heterogeneous), its token-level average",
  certainty: "code",
  allowsLevels: false,
  defaults: { epsilon: 1e-6, limit: 5 },
  estimate: perGroup((group, { epsilon, limit }) => {
    const [rewards, lengths] = [rewardsOf(group), lengthsOf(group)]
    if (Moments.allEqual(rewards)) return rewards.map(() => 0)
    const middle = Moments.weightedMean(rewards, lengths)
    const squares = rewards.map((reward) => (reward - middle) ** 2)
    const spread = Math.sqrt(Moments.weightedMean(squares, lengths)) + epsilon
    const values = rewards.map((reward) => (reward - middle) / spread)
    return values.some((value) => Math.abs(value) >= limit) ? Moments.standardise(rewards, epsilon) : values
  })
})
