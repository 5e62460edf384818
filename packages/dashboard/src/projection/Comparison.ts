import { Group, PlainText } from "@inspo/domain"
import { Interval } from "@inspo/statistics"
import type { RunNotes } from "../RunCatalog.ts"
import type { RunRecord } from "../RunRecord.ts"
import type { ComparisonView } from "../view/ComparisonView.ts"
import type { RunView } from "../view/RunView.ts"
import { bestInstruction, cells } from "./Overview.ts"
import { differing, settings } from "./Settings.ts"

export interface ComparedRun {
  readonly run: RunView
  readonly record: RunRecord
  readonly notes: RunNotes
}

/** Runs side by side; differences are to the first. */
export const comparison = (compared: ReadonlyArray<ComparedRun>): ComparisonView => {
  const [first] = compared
  return {
    runs: compared.map(({ notes, record, run }, index) => ({
      run,
      cells: cells(record),
      baseline: notes.baseline,
      difference: index === 0 || first === undefined ? null : difference(first.record, record),
      best: shownBest(record)
    })),
    settings: differing(compared.map(({ record }) => settings(record.config, record.state.strategies)))
  }
}

const shownBest = (record: RunRecord): string | null => {
  const best = bestInstruction(record)
  return best === undefined ? null : PlainText.escape(best.text)
}

/** Paired by question; null if the questions differ. */
const difference = (from: RunRecord, to: RunRecord): Interval.MeanDifference | null => {
  const before = finalScores(from)
  const after = finalScores(to)
  if (before.size !== after.size) return null
  const differences = [...after].flatMap(([question, score]) => {
    const other = before.get(question)
    return other === undefined ? [] : [score - other]
  })
  return differences.length === after.size ? Interval.meanDifference(differences) : null
}

/** Mean reward by question after training, under the best instruction. */
const finalScores = (record: RunRecord): ReadonlyMap<string, number> => {
  const best = bestInstruction(record)?.id
  const found = record.state.evaluations.find(({ instruction, policy }) => policy === "after" && instruction === best)
  return new Map(found?.groups.map((group) => [group.questionId, Group.meanReward(group)]))
}
