import { estimator, perGroup, rewardsOf } from "../Estimator.ts"
import { Moments } from "@inspo/statistics"

/**
 * MaxRL: the centred reward divided by the mean of its group, so that hard questions weigh more. With rewards of 0 and 1 the
 * mean gradient is that of the log-likelihood of a success, truncated after n − 1 terms. Advantages of a group sum to 0. It is
 * for rewards of at least 0: it gives none where the mean is not above 0, as the quotient would turn the order over.
 */
export const maxLikelihood = estimator({
  name: "max-likelihood",
  description: "is the centred reward divided by the mean of its group, as in MaxRL: hard questions weigh more",
  formula: "A = (r − mean) / mean, 0 if the mean is 0",
  source: "MaxRL, arXiv 2602.02710",
  certainty: "text",
  allowsLevels: false,
  defaults: {},
  estimate: perGroup((group) => {
    const rewards = rewardsOf(group)
    const level = Moments.mean(rewards)
    return Moments.centre(rewards).map((value) => (level > Number.EPSILON ? value / level : 0))
  })
})
