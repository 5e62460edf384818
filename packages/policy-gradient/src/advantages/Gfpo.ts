import { Array, Order } from "effect"
import { estimator, perGroup, rewardsOf } from "../Estimator.ts"
import { Moments } from "@inspo/statistics"
import { Method } from "@inspo/domain"

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
  defaults: { k: Method.unknown, efficient: Method.off, epsilon: 1e-6 },
  estimate: perGroup((group, { efficient, epsilon, k }) => {
    const kept = Array.sortBy(
      Order.mapInput(Order.Number, (index: number) => {
        const { length, reward } = group[index] ?? { length: 0, reward: 0 }
        return efficient ? -reward / length : length
      })
    )(group.map((_, index) => index)).slice(0, Method.required("gfpo", "k", k))
    const chosen = kept.flatMap((index) => group.slice(index, index + 1))
    const values = Moments.standardise(rewardsOf(chosen), epsilon)
    return group.map((_, index) => values[kept.indexOf(index)] ?? 0)
  })
})
