import type { Ledger } from "@inspo/ledger"
import { Text, count, duration } from "@inspo/report"

/** What a run spent, a line per phase; nothing where nothing was spent. */
export const costLines = ({ open, phases, redone, total }: Ledger.Summary): ReadonlyArray<string> =>
  phases.length === 0
    ? []
    : [
        "Cost by phase",
        ...Text.table([
          ["  phase", "rollouts", "tokens", "calls", "USD", "time"],
          ...phases.map((phase) => row(`  ${phase.phase}`, phase)),
          row("  total", total),
          ...partOf("  of which redone", redone),
          ...partOf("  of which unsettled", open)
        ])
      ]

const row = (name: string, { calls, rollouts, seconds, tokens, usd }: Ledger.Amounts): ReadonlyArray<string> => [
  name,
  count(rollouts),
  count(tokens),
  count(calls),
  usd.toFixed(2),
  duration(seconds)
]

const partOf = (name: string, amounts: Ledger.Amounts): ReadonlyArray<ReadonlyArray<string>> =>
  Object.values(amounts).every((amount) => amount === 0) ? [] : [row(name, amounts)]
