import { credit } from "../Credit.ts"
import { Method } from "@inspo/domain"
import { Moments } from "@inspo/statistics"

/**
 * InfoPO: a turn also earns by how much its observation changed the next action, compared over all turns of the group. The
 * gate makes that strong where the outcomes do not differ. β and the temperature depend on the task and are not published.
 * β = 0 is `outcome`; an observation without an effect has information 0.
 */
export const information = credit({
  name: "information",
  description: "adds to the outcome what the observation of a turn changed in the next action",
  formula: "A_t = A + β · σ(−sd of rewards / T) · standardised information of the turn",
  source: "InfoPO, arXiv 2603.00656",
  certainty: "part",
  needs: "scores of the actions without each observation",
  isSupplied: true,
  defaults: { beta: Method.unknown, temperature: Method.unknown, epsilon: 1e-6 },
  compute: (group, { beta, epsilon, temperature }) => {
    const spread = Moments.deviation(group.map(({ reward }) => reward))
    const gate = Moments.logistic(-spread / Method.required("information", "temperature", temperature))
    const factor = Method.required("information", "beta", beta) * gate
    const values = Moments.standardise(
      group.flatMap(({ turns }) =>
        turns.map(({ information }) => Method.required("information", "information", information))
      ),
      epsilon
    )
    let at = 0
    return group.map(({ advantage, turns }) => turns.map(() => advantage + factor * (values[at++] ?? 0)))
  }
})

/** What an observation changed: the mean over the next action's tokens of its log-probability less that without the observation. */
export const gained = (withIt: ReadonlyArray<number>, without: ReadonlyArray<number>): number =>
  withIt.reduce((sum, logprob, index) => sum + logprob - (without[index] ?? Number.NaN), 0) / Math.max(1, withIt.length)
