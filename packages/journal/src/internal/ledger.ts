import { Effect, Schema } from "effect"
import type { Journal, Reservation, Settlement } from "../Journal.ts"
import { type Database, perStatement } from "./database.ts"
import { checkEntry, checkReservation, checkSettlement, notOpen, reservationName } from "./input.ts"
import { totals } from "./ledgerTotals.ts"

/** The ledger of a journal, in the table `ledger`: expenses, reservations, and settlements that name a reservation. */
export const make = (database: Database): Pick<Journal.Interface, "charge" | "reserve" | "settle" | "ledger"> => ({
  charge: charging(database),
  reserve: reserving(database),
  settle: settling(database),
  ledger: totals(database)
})

const charging = (database: Database): Journal.Interface["charge"] => {
  const { commit, insertAll, storage } = database
  return Effect.fn("Journal.charge")(function* (expense) {
    const valid = yield* checkEntry(database, expense)
    yield* Effect.flatMap(nextEntry(database), (entry) =>
      insertAll("ledger", [{ ...valid, entry, key: null, settles: null, redone: valid.redone ? 1 : 0 }])
    ).pipe(commit)
  }, storage)
}

const reserving = (database: Database): Journal.Interface["reserve"] => {
  const { commit, insertAll, storage } = database
  return Effect.fn("Journal.reserve")(function* (entries) {
    if (entries.length === 0) return []
    const valid = yield* Effect.forEach(entries, (entry) => checkReservation(database, entry))
    return yield* Effect.gen(function* () {
      const reserved = yield* reservedBefore(database, valid)
      const first = yield* nextEntry(database)
      const rows = valid.map((reservation, index) => {
        const redone = reserved.has(reservationName(reservation)) ? 1 : 0
        reserved.add(reservationName(reservation))
        return { ...reservation, entry: first + index, settles: null, redone }
      })
      yield* insertAll("ledger", rows)
      return rows.map(({ entry }) => entry)
    }).pipe(commit)
  }, storage)
}

const settling = (database: Database): Journal.Interface["settle"] => {
  const { commit, insertAll, storage } = database
  return Effect.fn("Journal.settle")(function* (settlements) {
    if (settlements.length === 0) return
    const valid = yield* Effect.forEach(settlements, (settlement) => checkSettlement(database, settlement))
    yield* Effect.gen(function* () {
      const open = yield* openAmong(database, valid)
      const first = yield* nextEntry(database)
      const rows = yield* Effect.forEach(valid, ({ id, ...spent }, index) => {
        const reservation = open.get(id)
        open.delete(id)
        return reservation === undefined
          ? Effect.fail(notOpen(database, id))
          : Effect.succeed({
              ...spent,
              entry: first + index,
              phase: reservation.phase,
              key: null,
              settles: id,
              redone: reservation.redone
            })
      })
      yield* insertAll("ledger", rows)
    }).pipe(commit)
  }, storage)
}

/** The number that the next row of the ledger takes. */
const nextEntry = ({ error, sql }: Database) =>
  Effect.flatMap(sql`SELECT COALESCE(MAX(entry), 0) + 1 AS entry FROM ledger`, (rows) =>
    Effect.mapBoth(decodeEntryNumber(rows), {
      onFailure: (issue) => error("corrupt", `the ledger: ${issue.message}`, null, issue),
      onSuccess: ([{ entry }]) => entry
    })
  )

/** The names of those that were reserved before. */
const reservedBefore = Effect.fnUntraced(function* ({ sql }: Database, reservations: ReadonlyArray<Reservation>) {
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

/** The reservations that are to be settled and are not settled yet, by number. */
const openAmong = Effect.fnUntraced(function* ({ error, sql }: Database, settlements: ReadonlyArray<Settlement>) {
  const open = new Map<number, typeof OpenRow.Type>()
  for (const ids of perStatement(settlements.map(({ id }) => id))) {
    const rows = yield* sql`
      SELECT entry, phase, redone FROM ledger WHERE key IS NOT NULL AND ${sql.in("entry", ids)}
        AND NOT EXISTS (SELECT 1 FROM ledger AS settled WHERE settled.settles = ledger.entry)`
    const decoded = yield* Effect.mapError(decodeOpen(rows), (issue) =>
      error("corrupt", `the ledger: ${issue.message}`, null, issue)
    )
    for (const row of decoded) open.set(row.entry, row)
  }
  return open
})

const decodeEntryNumber = Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ entry: Schema.Natural })]))
const isKeyed = Schema.is(Schema.Struct({ key: Schema.String }))

const OpenRow = Schema.Struct({ entry: Schema.Natural, phase: Schema.String, redone: Schema.Natural })
const decodeOpen = Schema.decodeUnknownEffect(Schema.Array(OpenRow))
