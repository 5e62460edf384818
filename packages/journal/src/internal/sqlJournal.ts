import { Effect, Option, Schema, Struct } from "effect"
import { type Journal, JournalError, Expense } from "../Journal.ts"
import * as Database from "./database.ts"
import { checkEvents, type EventText } from "./input.ts"
import {
  make as makeLedger,
  type LedgerQuery,
  type LedgerTable,
  reservationName,
  type Settled,
  totals
} from "./ledger.ts"
import * as Operations from "./operations.ts"
import * as Records from "./records.ts"
import { emptyHead, Head, link, verify } from "./chain.ts"
import type { SqlError } from "effect/sql"

/** The journal in the tables `events`, `head`, `records` and `ledger` of a database that holds them already. */
export const make = (options: Database.DatabaseOptions): Journal.Interface => {
  const database = Database.make(options)
  return Operations.make({
    meta: options.meta,
    load: loading(database),
    ...Records.make(database),
    ...makeLedger(table(database)),
    commit: committing(database)
  })
}

/** All values are checked and written as JSON before the database is asked for anything. */
const committing = (database: Database.Database): Journal.Interface["commit"] =>
  Effect.fnUntraced(
    function* (newEvents, groups) {
      const events = yield* checkEvents(database, newEvents)
      const records = yield* Records.rowsOf(database, groups)
      if (events.length === 0 && records.length === 0) return
      yield* events.length === 0 && records.length <= Database.mostPerStatement
        ? database.records.put(records)
        : database.commit(Effect.andThen(insert(database, events), Records.insert(database, records)))
    },
    database.storage,
    Database.spanned("Journal.commit")
  )

const insert = Effect.fnUntraced(function* (database: Database.Database, rows: ReadonlyArray<EventText>) {
  const { insertAll, sql } = database
  if (rows.length === 0) return
  const linked = link(yield* readHead(database), rows)
  yield* insertAll("events", linked.rows)
  yield* sql`UPDATE head SET events = ${linked.head.events}, hash = ${linked.head.hash}`
})

/** The events from a sequence number on, up to the first that is damaged, and at most `limit`. */
const loading = (database: Database.Database) => {
  const { meta, sql, storage } = database
  return Effect.fn("Journal.read")(function* (sequence: number, limit?: number) {
    // The event before the first has its hash, which the first one's covers.
    const [head, rows] = yield* Effect.all([
      readHead(database),
      sql`SELECT sequence, type, step, payload, state, hash FROM events
          WHERE sequence >= ${sequence - 1} AND sequence < ${limit === undefined ? Number.MAX_SAFE_INTEGER : sequence + limit}
          ORDER BY sequence`
    ]).pipe(sql.withTransaction)
    if (sequence > head.events) return { events: [], damage: null }
    const before = sequence === 0 ? emptyHead : { events: sequence, hash: hashOf(rows[0]) }
    const asked = sequence === 0 ? rows : rows.slice(1)
    const last = before.events + asked.length
    // What was left out is not missing: the last one read is taken for the head.
    const end = asked.length === limit && last < head.events ? { events: last, hash: hashOf(asked.at(-1)) } : head
    const { damage, events } = verify(asked, end, before)
    if (damage === null) return { events, damage }
    const { detail, sequence: at } = damage
    return {
      events,
      damage: new JournalError({
        reason: "corrupt",
        file: meta.file,
        sequence: at,
        detail: `${detail}; ${remedy}`,
        intactEvents: before.events + events.length
      })
    }
  }, storage)
}

const readHead = ({ error, sql }: Database.Database) =>
  Effect.flatMap(sql`SELECT events, hash FROM head`, (rows) =>
    Option.match(decodeHead(rows), {
      onNone: () => Effect.fail(error("corrupt", "the count of its events is lost; restore the file from a copy")),
      onSome: ([head]) => Effect.succeed(head)
    })
  )

const remedy = "the events before it can be read; continue from there, restore the file from a copy or start a new run"

/** The hash of a stored event; nothing has this one when the row has lost its form. */
const hashOf = (row: unknown): string => Option.match(decodeHash(row), { onNone: () => "", onSome: ({ hash }) => hash })

const decodeHash = Schema.decodeUnknownOption(Schema.Struct({ hash: Schema.String }))
const decodeHead = Schema.decodeUnknownOption(Schema.Tuple([Head]))

type Failure = SqlError.SqlError | JournalError

const table = (database: Database.Database): LedgerTable<Failure> => {
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

const reservedIn = ({ sql }: Database.Database): LedgerQuery<Failure>["reserved"] =>
  Effect.fnUntraced(function* (reservations) {
    const names = new Set<string>()
    for (const phase of new Set(reservations.map((one) => one.phase))) {
      const own = reservations.filter((one) => one.phase === phase)
      for (const keys of Database.perStatement(own.map(({ key }) => key))) {
        const rows = yield* sql`SELECT DISTINCT key FROM ledger WHERE phase = ${phase} AND ${sql.in("key", keys)}`
        for (const row of rows) if (isKeyed(row)) names.add(reservationName({ phase, key: row.key }))
      }
    }
    return names
  })

const openIn = ({ read, sql }: Database.Database): LedgerQuery<Failure>["open"] =>
  Effect.fnUntraced(function* (entries) {
    const open = new Map<number, Settled>()
    for (const some of Database.perStatement(entries)) {
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
