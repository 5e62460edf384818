import { sumAll } from "effect/Number"
import { estimator, rewardsOf } from "../Estimator.ts"
import { Moments } from "@inspo/statistics"

/**
 * COPO: a mixture of the advantage within the group and of the group's own among the batch. The more the answers of a group
 * differ, the more the first counts; groups of one opinion learn from the second, also where their rewards are equal.
 *
 * The threshold of the entropy is a share of the largest one, log n: the paper's 1.5 of log 6. The reward of a group is its
 * mean, which the paper does not define exactly.
 */
export const consistency = estimator({
  name: "consistency",
  description: "mixes GRPO with the advantage of the whole group among the step, more so where its answers agree",
  formula:
    "A = w · GRPO + (1 − w) · (mean − mean of means) / (sd of means + ε), w = σ(γ(entropy of answers − ρ · log n))",
  source: "COPO, arXiv 2508.04138",
  certainty: "part",
  allowsLevels: false,
  defaults: { gamma: 20, rho: 1.5 / Math.log(6), epsilon: 1e-6 },
  estimate: (groups, { epsilon, gamma, rho }) => {
    const ofGroups = Moments.standardise(
      groups.map((group) => Moments.mean(rewardsOf(group))),
      epsilon
    )
    return groups.map((group, index) => {
      const w = Moments.logistic(gamma * (entropy(group.map(({ answer }) => answer)) - rho * Math.log(group.length)))
      return Moments.standardise(rewardsOf(group), epsilon).map((local) => w * local + (1 - w) * (ofGroups[index] ?? 0))
    })
  }
})

const entropy = (answers: ReadonlyArray<string | null>): number => {
  const shares = [...Map.groupBy(answers, (answer) => answer).values()].map(({ length }) => length / answers.length)
  return -sumAll(shares.map((share) => share * Math.log(share)))
}
