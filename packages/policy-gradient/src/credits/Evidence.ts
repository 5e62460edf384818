import { credit } from "../Credit.ts"
import { Method } from "@inspo/domain"
import { Moments } from "@inspo/statistics"

/**
 * VPPO, with observations in the place of images: of each rollout the tokens train that depend most on what was observed, and
 * rollouts that depend on it more count more, 1 in the mean of a step. Of tokens that depend alike the last train, and where all
 * rollouts do none is scaled: both are own choices. Its penalty for entropy is left out. Share 1 and floor 1 are `outcome`.
 */
export const evidence = credit({
  name: "evidence",
  description: "trains the tokens that depend most on observations, and more so in rollouts that depend on them more",
  formula:
    "A_k = f · A for the ⌈share · L⌉ tokens of largest D, else 0; D = e^d − d − 1, d = log π without observations − log π; f = floor + x · (1 − floor) / mean x, x = mean D of the rollout, scaled to [0, 1]",
  source: "VPPO, arXiv 2510.09285",
  certainty: "code",
  needs: "scores of the actions without any observation",
  isSupplied: true,
  isOfTokens: true,
  allowsLevels: true,
  defaults: { share: 0.4, floor: 0.9 },
  compute: (step, { floor, share }) => {
    const all = step.map(({ turns }) =>
      turns.flatMap(({ dependence }) => Method.required("evidence", "dependence", dependence))
    )
    const means = all.map((values) => Moments.mean(values))
    const [least, most] = [Math.min(...means), Math.max(...means)]
    const scaled = means.map((mean) => (most > least ? (mean - least) / (most - least) : 1))
    const slope = (1 - floor) / Moments.mean(scaled)
    return step.map(({ advantage }, rollout) => {
      const values = all[rollout] ?? []
      const factor = floor + (scaled[rollout] ?? 0) * slope
      const count = Math.ceil(share * values.length)
      const least = values.toSorted((a, b) => b - a)[count - 1] ?? 0
      let ties = count - values.filter((value) => value > least).length
      const keeps = (value: number) => value > least || (value === least && ties-- > 0)
      return values
        .toReversed()
        .map((value) => (keeps(value) ? factor * advantage : 0))
        .toReversed()
    })
  }
})

/** D of each token by its log-probabilities with and without observations; in three digits, since an event holds them. */
export const dependence = (withThem: ReadonlyArray<number>, without: ReadonlyArray<number>): ReadonlyArray<number> =>
  withThem.map((logprob, index) => {
    const d = Moments.clamp((without[index] ?? Number.NaN) - logprob, -20, 20)
    return Number(Math.min(10, Math.exp(d) - d - 1).toPrecision(3))
  })
