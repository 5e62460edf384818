import { Method } from "@inspo/domain"
import { Moments } from "@inspo/statistics"
import { Array } from "effect"
import { estimator, rewardsOf } from "../Estimator.ts"

/**
 * RiskPO: the j-th rollouts of `bundle` questions are one paper, and its score is the sum of their rewards. The papers of a
 * bundle are compared by how far their scores are below the lower quantile, most, and between the two. So nothing is gained
 * above the upper quantile. All rollouts of a paper get its advantage. Follow the quantiles of scores with `nextQuantile`.
 */
export const risk = estimator({
  name: "risk",
  description: "compares sums of rewards over bundles of questions, those below a quantile most",
  formula: "A = (w · CVaR part + RVaR part) / (w + 1) / (sd + ε) of the score of a paper",
  source: "RiskPO, arXiv 2510.00911",
  certainty: "code",
  needs: "the quantiles of the scores so far",
  allowsLevels: false,
  defaults: {
    low: Method.unknown,
    high: Method.unknown,
    lowShare: 0.2,
    highShare: 0.8,
    weight: 1.5,
    bundle: 5,
    epsilon: 1e-6
  },
  estimate: (groups, { bundle, epsilon, high, highShare, low, lowShare, weight }) => {
    const lower = Method.required("risk", "low", low)
    const upper = Method.required("risk", "high", high)
    return Array.chunksOf(groups, bundle).flatMap((questions) => {
      const papers = Array.range(0, Math.max(...questions.map(({ length }) => length)) - 1)
      const scores = papers.map((j) => questions.reduce((sum, group) => sum + (rewardsOf(group)[j] ?? 0), 0))
      const spread = Moments.deviation(scores) + epsilon
      const advantages = scores.map((score) => {
        const between = (Math.max(score - lower, 0) - Math.max(score - upper, 0)) / (highShare - lowShare)
        const below = -Math.max(lower - score, 0) / lowShare
        return (weight * below + between) / (weight + 1) / spread
      })
      return questions.map((group) => group.map((_, j) => advantages[j] ?? 0))
    })
  }
})

/** A quantile after more scores: it moves until a `share` of them is below. */
export const nextQuantile = (quantile: number, scores: ReadonlyArray<number>, share: number, rate = 0.1): number =>
  quantile + rate * (share - Moments.mean(scores.map((score) => (score < quantile ? 1 : 0))))
