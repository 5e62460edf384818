import { groupReward } from "../GroupReward.ts"
import { Method } from "@inspo/domain"

/**
 * SPO: how probably a rollout beats another one of its group, by a judge of pairs. Ask it in both orders, so that two
 * probabilities of a pair sum to 1: then the mean reward is ½, the winner against all has the largest, and cycles give ties.
 */
export const tournament = groupReward({
  name: "tournament",
  description: "is the mean probability to beat the others of the group",
  formula: "r_i = mean of P(i beats j) over j ≠ i",
  source: "SPO, arXiv 2401.04056",
  certainty: "text",
  needs: "a judge of pairs",
  judge: "pairs",
  isNeverNegative: true,
  replacesRewards: true,
  defaults: Method.judged,
  compute: (group) =>
    group.map(({ beats }, index) => {
      const others = Method.required("tournament", "beats", beats).filter((_, other) => other !== index)
      return others.reduce((sum, value) => sum + value, 0) / Math.max(1, others.length)
    })
})
