/** The events of a journal, in the tables `events` and `head` of a database. */
import { Effect, Option, Schema } from "effect"
import { JournalError } from "../Journal.ts"
import { emptyHead, Head, link, verify } from "./chain.ts"
import type { Database } from "./database.ts"
import type { EventText } from "./input.ts"

/** Puts events behind the last one. */
export const insert = Effect.fnUntraced(function* (database: Database, rows: ReadonlyArray<EventText>) {
  const { insertAll, sql } = database
  if (rows.length === 0) return
  const linked = link(yield* readHead(database), rows)
  yield* insertAll("events", linked.rows)
  yield* sql`UPDATE head SET events = ${linked.head.events}, hash = ${linked.head.hash}`
})

/** The events from a sequence number on, up to the first that is damaged, and at most `limit`. */
export const loading = (database: Database) => {
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
