import type { LedgerTotal } from "@inspo/journal"
import { Predicate } from "effect"
import type { RunNotes } from "../RunCatalog.ts"
import type { RunRecord } from "../RunRecord.ts"
import type { CostView } from "../view/CostView.ts"

export const cost = (
  { config, rows, state }: RunRecord,
  ledger: ReadonlyArray<LedgerTotal>,
  notes: RunNotes
): CostView => ({
  ledger: ledger.map(({ open, phase, redone, ...total }) => ({ phase, total, redone, open })),
  rollouts: state.spent.rollouts,
  tokens: state.spent.tokens,
  failed: state.failed,
  steps: rows.map(({ step }) => step ?? 0),
  course: {
    train: rows.map((row) => row["tokens/train"] ?? 0),
    verification: rows.map((row) => row["tokens/verification"] ?? 0)
  },
  caps: Object.fromEntries(
    Object.entries(config.budget).flatMap(([name, cap]) => (Predicate.isNumber(cap) ? [[name, cap]] : []))
  ),
  wallSeconds: notes.wallSeconds
})
