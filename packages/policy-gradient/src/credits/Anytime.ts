import { Array as Arr } from "effect"
import { sumAll } from "effect/Number"
import { credit } from "../Credit.ts"
import { Method } from "@inspo/domain"
import { Moments } from "@inspo/statistics"

const alike: ReadonlyArray<number> = []

/**
 * BRPO of AnytimeReasoner: a rollout is scored at each cut, here after its turns, and a turn is credited with the scores from
 * its cut on, by the `shares` of the cuts; without these they count alike. A rollout that ended keeps its last score at the later cuts of
 * its group. The baseline mixes the mean of the group with the rollout's own earlier scores, the latest
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
    const own = group.map(({ turns }) => turns.map(({ score }) => Method.required("anytime", "score", score)))
    const count = Math.max(0, ...own.map(({ length }) => length))
    const scores = own.map((row) => Arr.makeBy(count, (cut) => row[cut] ?? row.at(-1) ?? 0))
    const share = (cut: number) => (shares.length === 0 ? 1 / count : (shares[cut] ?? 0))
    const left = (values: ReadonlyArray<number>, s: number) =>
      sumAll(values.slice(s).map((value, index) => share(s + index) * value))
    const whole = Arr.makeBy(count, () => 1)
    const returns = scores.map((row) => row.map((_, s) => left(row, s)))
    return own.map((turns, rollout) =>
      turns.map((_, s) => {
        const earlier = turns.slice(0, s)
        const weights = earlier.map((_, j) => base ** j)
        const mean = s === 0 ? 0 : Moments.weightedMean(earlier, weights)
        const expected = mean * left(whole, s)
        const ofGroup = Moments.mean(returns.map((other) => other[s] ?? 0))
        return (returns[rollout]?.[s] ?? 0) - (s * expected + (count - s) * ofGroup) / count
      })
    )
  }
})
