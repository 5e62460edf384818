import { Array, Order } from "effect"
import { estimator, perGroup, rewardsOf } from "../Estimator.ts"
import { standardise } from "../Moments.ts"
import { off, required, unknown } from "../Method.ts"

/**
 * GFPO: of each group only the k best by a second criterion are compared and trained, so that the criterion needs no place in
 * the reward. It is the length, or the reward per token with `efficient`. The others get 0; k = n is GRPO.
 */
export const gfpo = estimator({
  name: "gfpo",
  description: "is GRPO among the k shortest, or most efficient, of a group, and 0 for the others",
  formula: "A = GRPO within the k members of least L, or of largest r / L; others: 0",
  source: "GFPO (formerly an experimental trainer of TRL)",
  certainty: "code",
  trl: "num_remains_in_group",
  allowsLevels: false,
  defaults: { k: unknown, efficient: off, epsilon: 1e-6 },
  estimate: perGroup((group, { efficient, epsilon, k }) => {
    const kept = Array.sortBy(
      Order.mapInput(Order.Number, (index: number) => {
        const { length, reward } = group[index] ?? { length: 0, reward: 0 }
        return efficient ? -reward / length : length
      })
    )(group.map((_, index) => index)).slice(0, required("gfpo", "k", k))
    const chosen = kept.flatMap((index) => group.slice(index, index + 1))
    const values = standardise(rewardsOf(chosen), epsilon)
    return group.map((_, index) => values[kept.indexOf(index)] ?? 0)
  })
})
