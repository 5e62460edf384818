import { Effect, Schema, Struct } from "effect"
import { Expense, type Journal, LedgerTotal } from "../Journal.ts"
import type { Database } from "./database.ts"

/** The sums of each phase. A settlement stands for the reservation that it names. */
export const totals = ({ error, sql, storage }: Database): Journal.Interface["ledger"] =>
  Effect.gen(function* () {
    const rows = yield* sql`
      SELECT phase, ${sql.literal(amounts.map((amount) => `SUM(${amount}) AS "${amount}"`).join(", "))},
        ${sql.literal(amounts.map((amount) => `SUM(redone * ${amount}) AS "redone.${amount}"`).join(", "))},
        ${sql.literal(
          amounts.map((amount) => `SUM(CASE WHEN key IS NULL THEN 0 ELSE ${amount} END) AS "open.${amount}"`).join(", ")
        )}
      FROM ledger WHERE NOT EXISTS (SELECT 1 FROM ledger AS settled WHERE settled.settles = ledger.entry)
      GROUP BY phase ORDER BY phase`
    return yield* Effect.mapError(decodeSums(rows.map(nested)), (issue) =>
      error("corrupt", `the ledger: ${issue.message}`, null, issue)
    )
  }).pipe(storage, Effect.withSpan("Journal.ledger"))

const amounts = Struct.keys(Expense.fields)

const decodeSums = Schema.decodeUnknownEffect(Schema.Array(LedgerTotal))

/** A row with its columns `redone.…` and `open.…` as parts. */
const nested = (row: object) => {
  const part = (prefix: string) =>
    Object.fromEntries(
      Object.entries(row).flatMap(([name, value]) =>
        amounts.some((amount) => name === `${prefix}${amount}`) ? [[name.slice(prefix.length), value]] : []
      )
    )
  return { ...row, redone: part("redone."), open: part("open.") }
}
