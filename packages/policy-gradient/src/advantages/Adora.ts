import { estimator, perGroup, rewardsOf } from "../Estimator.ts"
import { Moments } from "@inspo/statistics"

/**
 * ADORA: GRPO, where a group counts little unless its longest success is longer than its failures are on average, since short
 * successes are often guesses. Failures that reached `limit` action tokens do not count. It is the variant for texts: the one
 * for images keeps the weight of a group without a success.
 */
export const adora = estimator({
  name: "adora",
  description: "is GRPO, times 0.1 for groups whose successes are all shorter than their failures",
  formula: "A = GRPO · (1 if longest success > mean length of failures, else λ)",
  source: "ADORA (ShadeCloak/ADORA)",
  certainty: "code",
  allowsLevels: false,
  defaults: { low: 0.1, limit: 4054, epsilon: 1e-6 },
  estimate: perGroup((group, { epsilon, limit, low }) => {
    const longest = Math.max(...group.map(({ length, reward }) => (reward > 0 ? length : -Infinity)))
    const failed = group.filter(({ length, reward }) => reward <= 0 && length < limit).map(({ length }) => length)
    const weight = failed.length === 0 || longest > Moments.mean(failed) ? 1 : low
    return Moments.standardise(rewardsOf(group), epsilon).map((value) => weight * value)
  })
})
