import { groupReward } from "../GroupReward.ts"
import { Method } from "@inspo/domain"

/**
 * Stability over paraphrases, for a group whose members were asked the same in other words: the share of the others that gave
 * the same answer. The idea is that of information-consistent GRPO, which compares entropies of words in the place of answers
 * and publishes no weights.
 */
export const stability = groupReward({
  name: "stability",
  description: "adds the share of the other paraphrases that got the same answer",
  formula: "r + w · share of the others with the same answer",
  source: "information-consistent GRPO, arXiv 2512.12858",
  certainty: "part",
  isNeverNegative: true,
  defaults: { weight: Method.unknown },
  compute: (group, { weight }) =>
    group.map(({ answer, reward }, index) => {
      const others = group.filter((_, other) => other !== index)
      const same = others.filter((other) => answer !== null && other.answer === answer).length
      return reward + (Method.required("stability", "weight", weight) * same) / Math.max(1, others.length)
    })
})
