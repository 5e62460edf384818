import { credit, toGo } from "../Credit.ts"
import { Method } from "@inspo/domain"
import { Moments } from "@inspo/statistics"

/**
 * RubricEM: a judge scores each turn, or stage, and turn k of a rollout is compared with turn k of the others, by its own score
 * and those that follow. Λ, how much a later score counts, is not published: `gamma` is 0 for the own score alone and 1
 * for the sum of the rest. Turns that only one rollout has get 0.
 */
export const stages = credit({
  name: "stages",
  description: "compares turn k of the rollouts of a group by a judge's scores of it and of those that follow",
  formula: "G_k = Σ γ^(j − k) · R_j over j ≥ k; A_k = (G_k − mean) / (sd + ε) over the group",
  source: "RubricEM, arXiv 2605.10899",
  certainty: "part",
  needs: "a judge that scores turns",
  judge: "turns",
  defaults: { gamma: 1, epsilon: 1e-6, ...Method.judged },
  compute: (group, { epsilon, gamma }) => {
    const returns = group.map(({ turns }) =>
      toGo(
        turns.map(({ score }) => Method.required("stages", "score", score)),
        gamma
      )
    )
    const columns = Array.from({ length: Math.max(0, ...returns.map(({ length }) => length)) }, (_, k) => {
      const having = returns.filter(({ length }) => length > k)
      const values = Moments.standardise(
        having.map((ofRollout) => ofRollout[k] ?? 0),
        epsilon
      )
      return new Map(having.map((ofRollout, index) => [ofRollout, values[index] ?? 0]))
    })
    return returns.map((ofRollout) => ofRollout.map((_, k) => columns[k]?.get(ofRollout) ?? 0))
  }
})
