import { Bootstrap, Exact, Interval } from "@inspo/statistics"
import { Schema } from "effect"
import { bySource, type Outcome, valid } from "./Outcome.ts"

/**
 * Left minus right over the same questions: the mean difference with its paired bootstrap interval, on how many questions
 * left was `better` and `worse`, and the two-sided p-value of that count if both were as likely: the sign test, which is
 * McNemar's exact test for `em`. `macro` is the mean over sources of the mean differences within them.
 */
export const Difference = Schema.Struct({
  mean: Schema.Finite,
  ci95: Schema.NullOr(Interval.Interval),
  macro: Schema.Finite,
  macroCi95: Schema.NullOr(Interval.Interval),
  better: Schema.Int,
  worse: Schema.Int,
  p: Schema.Finite
})
export interface Difference extends Schema.Schema.Type<typeof Difference> {}

/** The differences over the `n` questions that neither side failed. */
export const Comparison = Schema.Struct({ n: Schema.Int, em: Difference, f1: Difference })
export interface Comparison extends Schema.Schema.Type<typeof Comparison> {}

/** Compares question by question; null when there is no question that both sides answered. */
export const compare = (
  left: ReadonlyArray<Outcome>,
  right: ReadonlyArray<Outcome>,
  options: Bootstrap.Options
): Comparison | null => {
  const others = new Map(valid(right).map((one) => [one.questionId, one]))
  const shared = valid(left).filter(({ questionId }) => others.has(questionId))
  if (shared.length === 0) return null
  const strata = bySource(shared).map(([, members]) => members)
  const difference = (of: (one: Outcome) => number): Difference => {
    const differences = strata.map((members) =>
      members.flatMap((one) => {
        const other = others.get(one.questionId)
        return other === undefined ? [] : [of(one) - of(other)]
      })
    )
    const all = differences.flat()
    const intervals = Bootstrap.bootstrap(differences, options)
    const better = all.filter((value) => value > 0).length
    const worse = all.filter((value) => value < 0).length
    return {
      mean: Bootstrap.meanOf(all) ?? 0,
      ci95: intervals.overall,
      macro: Bootstrap.meanOf(differences.flatMap((values) => Bootstrap.meanOf(values) ?? [])) ?? 0,
      macroCi95: intervals.macro,
      better,
      worse,
      p: Exact.signTest(better, worse)
    }
  }
  return { n: shared.length, em: difference((one) => one.em), f1: difference((one) => one.f1) }
}
