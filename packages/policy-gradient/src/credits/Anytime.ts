import { sumAll } from "effect/Number"
import { credit } from "../Credit.ts"
import { Method } from "@inspo/domain"
import { Moments } from "@inspo/statistics"

const alike: ReadonlyArray<number> = []

/**
 * BRPO of AnytimeReasoner: a rollout is scored at each of its cuts, here its turns, and a turn is credited with the scores from
 * its cut on, by the `shares` of the cuts; without these they count alike. The baseline mixes the mean of the group with the rollout's own earlier scores, the latest
 * most. So it never reads the present score or a later one, and with one cut it is Dr. GRPO.
 */
export const anytime = credit({
  name: "anytime",
  description: "credits a turn with the scores of answers at its end and later, less a baseline of earlier ones",
  formula: "A_s = R_s − (s · V1 + (S − s) · V2) / S; R_s = Σ p_j · score_j over j ≥ s",
  source: "AnytimeReasoner, arXiv 2505.13438",
  certainty: "code",
  needs: "scores of answers at each turn",
  defaults: { base: 2, shares: alike },
  compute: (group, { base, shares }) => {
    const scores = group.map(({ turns }) => turns.map(({ score }) => Method.required("anytime", "score", score)))
    const count = Math.max(0, ...scores.map(({ length }) => length))
    const share = (cut: number) => (shares.length === 0 ? 1 / count : (shares[cut] ?? 0))
    const left = (values: ReadonlyArray<number>, s: number) =>
      sumAll(values.slice(s).map((value, index) => share(s + index) * value))
    const returns = scores.map((row) => row.map((_, s) => left(row, s)))
    return scores.map((row, rollout) =>
      row.map((_, s) => {
        const weights = row.slice(0, s).map((_, j) => base ** j)
        const own =
          s === 0
            ? 0
            : Moments.weightedMean(row.slice(0, s), weights) *
              left(
                row.map(() => 1),
                s
              )
        const ofGroup = Moments.mean(returns.map((other) => other[s] ?? 0))
        return (returns[rollout]?.[s] ?? 0) - (s * own + (count - s) * ofGroup) / count
      })
    )
  }
})
