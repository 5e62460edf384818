/** A comparison of prompts as lists and the page show it. */
import { type Compare, Comparison } from "@inspo/evolve/parts"
import { Text } from "@inspo/report"
import type { PromptComparison } from "../view/PromptComparison.ts"
import type { SearchRow } from "../view/SearchRow.ts"
import { clippedText, statusOf } from "./Search.ts"

/** The row of a comparison: with several candidates, of the one that is known to be the best. */
export const row = (
  { id, name }: Pick<SearchRow, "id" | "name">,
  { isDone, result, settings, state }: Compare.StoredComparison,
  at: number | null,
  now: number
): SearchRow => {
  const phase = isDone ? "done" : "test"
  const best = result.candidates.toSorted((one, other) => order.indexOf(one.verdict) - order.indexOf(other.verdict))[0]
  return {
    id,
    name,
    kind: "comparison",
    status: statusOf({ phase }, at, now),
    problem: null,
    summary: {
      phase,
      verdict: isDone ? (best?.verdict ?? null) : null,
      calls: result.calls,
      budget: Comparison.mostCalls(state),
      usd: result.usd,
      budgetUsd: settings.usd,
      tried: settings.arms.length,
      rejected: 0,
      gain: best?.gain ?? null
    },
    lastWritten: at
  }
}

const order = ["better", "no-worse", "undecided", "worse"]

export const detail = ({ costs, identity, result, sentenceOf }: Compare.StoredComparison): PromptComparison => {
  const { bound, candidates, control, isMet, margin, requirement } = result
  return {
    bound,
    margin,
    requirement,
    isMet,
    costs,
    identity,
    control: { prompt: Text.oneText(control.prompt), score: control.score },
    candidates: candidates.map((one) => ({
      prompt: Text.oneText(one.prompt),
      verdict: one.verdict,
      sentence: sentenceOf(one),
      score: one.score,
      gain: one.gain,
      cases: one.cases,
      improved: one.improved.length,
      worsened: one.worsened.length,
      changes: (
        [
          ["Protected cases that it fails", one.lost],
          ["Cases that got worse", one.worsened],
          ["Cases that got better", one.improved]
        ] as const
      ).flatMap(([title, all]) =>
        all.length === 0
          ? []
          : [
              {
                title,
                count: all.length,
                cases: all.slice(0, most).map((changed) => ({ ...changed, case: clippedText(changed.case) }))
              }
            ]
      ),
      course: one.course
    }))
  }
}

/** The most cases of a kind that the page shows. */
const most = 50
