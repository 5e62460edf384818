import { Effect } from "effect"
import type { Journal } from "../Journal.ts"
import * as Database from "./database.ts"
import * as Events from "./events.ts"
import { checkEvents } from "./input.ts"
import * as Ledger from "./ledger.ts"
import * as Operations from "./operations.ts"
import * as Records from "./records.ts"
import * as SqlLedger from "./sqlLedger.ts"

/** The journal in the tables `events`, `head`, `records` and `ledger` of a database that holds them already. */
export const make = (options: Database.DatabaseOptions): Journal.Interface => {
  const database = Database.make(options)
  return Operations.make({
    meta: options.meta,
    load: Events.loading(database),
    ...Records.make(database),
    ...Ledger.make(SqlLedger.table(database)),
    commit: committing(database)
  })
}

/** All values are checked and written as JSON before the database is asked for anything. */
const committing = (database: Database.Database): Journal.Interface["commit"] =>
  Effect.fn("Journal.commit")(function* (newEvents, groups) {
    const events = yield* checkEvents(database, newEvents)
    const records = yield* Records.rowsOf(database, groups)
    if (events.length === 0 && records.length === 0) return
    yield* events.length === 0 && records.length <= Database.mostPerStatement
      ? database.records.put(records)
      : database.commit(Effect.andThen(Events.insert(database, events), Records.insert(database, records)))
  }, database.storage)
