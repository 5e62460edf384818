import { credit, toGo } from "../Credit.ts"
import { Method } from "@inspo/domain"

/**
 * EPO: turns that a judge found critical earn 1, the last turn the reward of the rollout, and each turn has its discounted
 * return divided by the largest. There is no baseline, as the authors have it: with other rules, add it to an advantage.
 * |A| ≤ 1, and a turn does not depend on the turns before it, except by the common scale. The authors give each turn the same
 * share of the loss; here each token has its share by `train.normalization`, so a long turn weighs more.
 */
export const keyTurns = credit({
  name: "key-turns",
  description: "gives each turn its return from the turns that a judge found critical, and from the outcome",
  formula: "G_t = c_t + γ · G_(t + 1); A_t = G_t / max |G|",
  source: "EPO, arXiv 2502.12486",
  certainty: "code",
  needs: "a judge that names critical turns",
  judge: "key-turns",
  defaults: { gamma: 0.99, ...Method.judged },
  compute: (group, { gamma }) =>
    group.map(({ reward, turns }) =>
      scaledReturns(
        turns.map(({ critical }, index) => {
          if (Method.required("key-turns", "critical", critical)) return 1
          return index === turns.length - 1 ? reward : 0
        }),
        gamma
      )
    )
})

/** The discounted returns of scores, divided by the largest of their sizes. */
export const scaledReturns = (scores: ReadonlyArray<number>, gamma: number): ReadonlyArray<number> => {
  const returns = toGo(scores, gamma)
  const largest = Math.max(...returns.map(Math.abs))
  return returns.map((value) => (largest > 0 ? value / largest : 0))
}
