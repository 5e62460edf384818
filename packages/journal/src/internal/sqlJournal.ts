import { Effect } from "effect"
import { Journal } from "../Journal.ts"
import * as Database from "./database.ts"
import * as Events from "./events.ts"
import * as Ledger from "./ledger.ts"
import * as Records from "./records.ts"

/** The journal in the tables `events`, `head`, `records` and `ledger` of a database that holds them already. */
export const make = (options: Database.DatabaseOptions): Journal["Service"] => {
  const database = Database.make(options)
  const commit = committing(database)
  return Journal.of({
    meta: options.meta,
    ...Events.make(database),
    ...Records.make(database),
    ...Ledger.make(database),
    append: (events) => commit(events, []),
    putRecords: (kind, step, rows) => commit([], [{ kind, step, rows }]),
    commit
  })
}

/** All values are checked and written as JSON before the database is asked for anything. */
const committing = (database: Database.Database): Journal.Interface["commit"] =>
  Effect.fn("Journal.commit")(function* (newEvents, groups) {
    const events = yield* Events.rowsOf(database, newEvents)
    const records = yield* Records.rowsOf(database, groups)
    if (events.length === 0 && records.length === 0) return
    yield* events.length === 0 && records.length <= Database.mostPerStatement
      ? database.records.put(records)
      : database.commit(Effect.andThen(Events.insert(database, events), Records.insert(database, records)))
  }, database.storage)
