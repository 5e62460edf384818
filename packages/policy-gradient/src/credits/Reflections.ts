import { credit } from "../Credit.ts"
import { Method } from "@inspo/domain"
import { Moments } from "@inspo/statistics"

/**
 * RubricEM: reflections of the policy are compared with those of the other rollouts by a judge's scores; all other turns have the
 * outcome. A reflection without a score has it too, so without reflections it is `outcome`.
 */
export const reflections = credit({
  name: "reflections",
  description: "compares reflections in the group by a judge's scores, and gives other turns the outcome",
  formula: "A_t = (s − mean) / (sd + ε) over the reflections of the group; else A",
  source: "RubricEM, arXiv 2605.10899",
  certainty: "text",
  needs: "a judge of reflections",
  judge: "reflections",
  defaults: { epsilon: 1e-6, ...Method.judged },
  compute: (group, { epsilon }) => {
    const values = Moments.standardise(
      group.flatMap(({ turns }) => turns.flatMap(({ reflection = [] }) => reflection)),
      epsilon
    ).values()
    return group.map(({ advantage, turns }) =>
      turns.map(({ reflection }) => (reflection === undefined ? advantage : (values.next().value ?? 0)))
    )
  }
})
