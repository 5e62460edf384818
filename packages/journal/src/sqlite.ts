import { Effect, Layer, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { statSync } from "node:fs"
import { emptyHead } from "./internal/chain.ts"
import * as NodeSqlite from "./internal/nodeSqlite.ts"
import * as SqlJournal from "./internal/sqlJournal.ts"
import { Journal, JournalError, type JournalErrorReason, journalVersion } from "./Journal.ts"

/**
 * How to open a journal: `create` a new one, `open` an existing one to go on writing, or `read-only`, which is possible
 * while a run writes to it.
 */
export type Mode = "create" | "open" | "read-only"

/**
 * A journal in one SQLite file, with `FILE.lock` beside it: while a run is writing, the operating system holds a lock on
 * that file, and drops it when the process ends, however it ends.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { Journal } from "@inspo/journal"
 * import { layer } from "@inspo/journal/sqlite"
 *
 * const events = Journal.use((journal) => journal.read).pipe(
 *   Effect.provide(layer({ file: "runs/first/journal.sqlite", mode: "read-only" }))
 * )
 * ```
 */
export const layer = (options: { readonly file: string; readonly mode: Mode }): Layer.Layer<Journal, JournalError> =>
  Layer.effect(
    Journal,
    Effect.gen(function* () {
      const { file, mode } = options
      if (mode === "create") {
        yield* lock(file)
        // An empty file is what a run leaves behind that died before it could create its journal.
        if ((yield* sizeOf(file)) > 0) {
          return yield* error(file, "exists", "the file exists already; resume its run or choose another directory")
        }
      } else {
        if ((yield* sizeOf(file)) < 0) {
          return yield* error(file, "missing", "there is no such file; check the path or start a new run")
        }
        if (mode === "open") yield* lock(file)
      }
      return yield* open(file, mode)
    })
  )

/** A journal that lasts as long as the layer: for tests and for runs that nobody wants to keep. */
export const layerMemory: Layer.Layer<Journal> = Layer.orDie(
  Layer.effect(
    Journal,
    Effect.suspend(() => open(":memory:", "create"))
  )
)

/** The bytes `INSP`, by which a SQLite file says that it is a journal. */
const applicationId = 0x494e5350

const tables: ReadonlyArray<string> = [
  `CREATE TABLE events (
    sequence INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    step INTEGER NOT NULL,
    payload TEXT NOT NULL,
    hash TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE head (
    only INTEGER PRIMARY KEY CHECK (only = 0),
    events INTEGER NOT NULL,
    hash TEXT NOT NULL
  ) STRICT`,
  `INSERT INTO head VALUES (0, ${emptyHead.events}, '${emptyHead.hash}')`,
  `CREATE TABLE records (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    step INTEGER NOT NULL,
    value TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (kind, key)
  ) STRICT`,
  `CREATE INDEX records_by_step ON records (kind, step, key)`,
  `CREATE TABLE ledger (
    entry INTEGER PRIMARY KEY,
    phase TEXT NOT NULL,
    rollouts INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    usd REAL NOT NULL,
    redone INTEGER NOT NULL
  ) STRICT`,
  `PRAGMA application_id = ${applicationId}`,
  `PRAGMA user_version = ${journalVersion}`
]

const Identity = Schema.Tuple([Schema.Struct({ application: Schema.Int, version: Schema.Int })])
const decodeIdentity = Schema.decodeUnknownEffect(Identity)

const open = (file: string, mode: Mode) =>
  Effect.gen(function* () {
    const readOnly = mode === "read-only"
    const database = yield* NodeSqlite.open(file, { readOnly })
    const sql = yield* NodeSqlite.makeClient(database, { readOnly })
    if (mode === "create") {
      // All tables appear in one commit, so a file is either empty or a journal.
      yield* sql.withTransaction(Effect.forEach(tables, (statement) => sql.unsafe(statement), { discard: true }))
    }
    const version = yield* checkIdentity(file, sql)
    if (!readOnly) yield* NodeSqlite.exec(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    return SqlJournal.make({ sql, meta: { file, journalVersion: version }, onSqlError: onSqlError(file) })
  }).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(onSqlError(file)(error))))

const checkIdentity = Effect.fnUntraced(function* (file: string, sql: SqlClient.SqlClient) {
  const rows = yield* sql`
    SELECT application_id AS application, user_version AS version FROM pragma_application_id, pragma_user_version`
  const [{ application, version }] = yield* Effect.mapError(decodeIdentity(rows), (issue) =>
    error(file, "not-a-journal", issue.message)
  )
  if (application !== applicationId) {
    return yield* error(file, "not-a-journal", "the file is not a journal; check the path")
  }
  if (version > journalVersion) {
    return yield* error(
      file,
      "newer-version",
      `its version is ${version} and this program reads up to ${journalVersion}; use a newer one`
    )
  }
  return version
})

const lock = Effect.fnUntraced(
  function* (file: string) {
    const database = yield* NodeSqlite.open(`${file}.lock`, { readOnly: false, timeout: 0 })
    yield* NodeSqlite.exec(database, "BEGIN EXCLUSIVE")
  },
  (effect, file) => Effect.catchTag(effect, "SqlError", (failure) => Effect.fail(onLockError(file, failure)))
)

const onLockError = (file: string, failure: SqlError.SqlError): JournalError =>
  NodeSqlite.resultCode(failure) === NodeSqlite.ResultCode.busy
    ? error(file, "locked", "another run is writing to it; wait for it to end or stop it first")
    : error(
        file,
        "storage",
        `cannot write ${file}.lock: ${failure.message}; check that its directory exists and is writable`
      )

/** Size of a file in bytes, or -1 when there is none. */
const sizeOf = (file: string): Effect.Effect<number, JournalError> =>
  Effect.try({
    try: () => statSync(file, { throwIfNoEntry: false })?.size ?? -1,
    catch: (cause) => error(file, "storage", cause instanceof Error ? cause.message : String(cause))
  })

const onSqlError =
  (file: string) =>
  (failure: SqlError.SqlError): JournalError => {
    switch (NodeSqlite.resultCode(failure)) {
      case NodeSqlite.ResultCode.readOnly:
        return error(file, "storage", "it was opened for reading only")
      case NodeSqlite.ResultCode.corrupt:
        return error(file, "corrupt", `${failure.message}; restore the file from a copy or start a new run`)
      case NodeSqlite.ResultCode.notADatabase:
        return error(file, "not-a-journal", "the file is not a database; check the path")
      default:
        return error(file, "storage", failure.message)
    }
  }

const error = (file: string, reason: JournalErrorReason, detail: string): JournalError =>
  new JournalError({ reason, file, sequence: null, detail })
