/** The ledger of a journal, in the table `ledger` of a database. */
import { Effect, Schema, Struct } from "effect"
import type { SqlError } from "effect/sql"
import { Expense, type JournalError } from "../Journal.ts"
import { type Database, perStatement } from "./database.ts"
import { type LedgerQuery, type LedgerTable, reservationName, type Settled, totals } from "./ledger.ts"

type Failure = SqlError.SqlError | JournalError

export const table = (database: Database): LedgerTable<Failure> => {
  const { commit, error, insertAll, read, sql, storage } = database
  const sums = sql.literal(amounts.map((amount) => `SUM(${amount}) AS "${amount}"`).join(", "))
  return {
    error,
    totals: read(
      "the ledger",
      Sums,
      sql`SELECT phase, redone, CASE WHEN key IS NULL THEN 0 ELSE 1 END AS "isOpen", ${sums}
        FROM ledger WHERE NOT EXISTS (SELECT 1 FROM ledger AS settled WHERE settled.settles = ledger.entry)
        GROUP BY phase, redone, "isOpen" ORDER BY phase, redone, "isOpen"`
    ).pipe(
      Effect.map((rows) =>
        totals(rows.map(({ isOpen, redone, ...row }) => ({ ...row, redone: redone > 0, isOpen: isOpen > 0 })))
      ),
      storage
    ),
    add: (decide) =>
      Effect.gen(function* () {
        const [{ next }] = yield* read("the ledger", Next, sql`SELECT COALESCE(MAX(entry), 0) + 1 AS next FROM ledger`)
        const [rows, value] = yield* decide({ next, reserved: reservedIn(database), open: openIn(database) })
        yield* insertAll(
          "ledger",
          rows.map((row) => ({ ...row, redone: row.redone ? 1 : 0 }))
        )
        return value
      }).pipe(commit, storage)
  }
}

const reservedIn = ({ sql }: Database): LedgerQuery<Failure>["reserved"] =>
  Effect.fnUntraced(function* (reservations) {
    const names = new Set<string>()
    for (const phase of new Set(reservations.map((one) => one.phase))) {
      const own = reservations.filter((one) => one.phase === phase)
      for (const keys of perStatement(own.map(({ key }) => key))) {
        const rows = yield* sql`SELECT DISTINCT key FROM ledger WHERE phase = ${phase} AND ${sql.in("key", keys)}`
        for (const row of rows) if (isKeyed(row)) names.add(reservationName({ phase, key: row.key }))
      }
    }
    return names
  })

const openIn = ({ read, sql }: Database): LedgerQuery<Failure>["open"] =>
  Effect.fnUntraced(function* (entries) {
    const open = new Map<number, Settled>()
    for (const some of perStatement(entries)) {
      const rows = yield* read(
        "the ledger",
        Open,
        sql`SELECT entry, phase, redone FROM ledger WHERE key IS NOT NULL AND ${sql.in("entry", some)}
          AND NOT EXISTS (SELECT 1 FROM ledger AS settled WHERE settled.settles = ledger.entry)`
      )
      for (const { entry, phase, redone } of rows) open.set(entry, { phase, redone: redone > 0 })
    }
    return open
  })

const amounts = Struct.keys(Expense.fields)

const isKeyed = Schema.is(Schema.Struct({ key: Schema.String }))
const Next = Schema.Tuple([Schema.Struct({ next: Schema.Natural })])
const Open = Schema.Array(Schema.Struct({ entry: Schema.Natural, phase: Schema.String, redone: Schema.Natural }))
const Sums = Schema.Array(
  Schema.Struct({ ...Expense.fields, phase: Schema.String, redone: Schema.Natural, isOpen: Schema.Natural })
)
