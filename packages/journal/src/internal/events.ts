import { Effect, Option, Schema } from "effect"
import { type Journal, JournalError, type NewEvent } from "../Journal.ts"
import { emptyHead, type EventRow, Head, link, verify } from "./chain.ts"
import type { Database } from "./database.ts"
import { checkName, checkStep, encode, type Store } from "./input.ts"

/** The events of a journal, in the tables `events` and `head`. */
export const make = (database: Database): Pick<Journal.Interface, "read" | "readFrom" | "readIntact"> => {
  const readBehind = reading(database)
  const readFrom: Journal.Interface["readFrom"] = (sequence, limit) =>
    Effect.flatMap(readBehind(sequence, limit), ({ damage, events }) =>
      damage === null ? Effect.succeed(events) : Effect.fail(damage)
    )
  return { read: readFrom(0), readFrom, readIntact: readBehind(0) }
}

/** An event whose place in the chain is not known yet. */
type Unlinked = Pick<EventRow, "type" | "step" | "payload" | "state">

/** Events as stored in their table, but for their places; refuses what cannot be stored there. */
export const rowsOf = (
  database: Store,
  events: ReadonlyArray<NewEvent>
): Effect.Effect<ReadonlyArray<Unlinked>, JournalError> =>
  Effect.forEach(
    events,
    Effect.fnUntraced(function* ({ payload, state, step, type }): Effect.fn.Return<Unlinked, JournalError> {
      yield* checkName(database, "event type", type)
      yield* checkStep(database, step)
      if (state !== undefined) yield* checkName(database, "event state", state)
      const text = yield* encode(database, `the payload of ${type} at step ${step}`, payload)
      return { type, step, payload: text, state: state ?? null }
    })
  )

/** Puts events behind the last one. */
export const insert = Effect.fnUntraced(function* (database: Database, rows: ReadonlyArray<Unlinked>) {
  const { insertAll, sql } = database
  if (rows.length === 0) return
  const linked = link(yield* readHead(database), rows)
  yield* insertAll("events", linked.rows)
  yield* sql`UPDATE head SET events = ${linked.head.events}, hash = ${linked.head.hash}`
})

/** The events from a sequence number on, up to the first that is damaged, and at most `limit`. */
const reading = (database: Database) => {
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

const readHead = ({ error, sql }: Database) =>
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
