import * as RegularFile from "@inspo/domain/RegularFile"
import { Effect, Layer, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs"
import { dirname } from "node:path"
import process from "node:process"
import type { RecordRow, RecordStatements } from "./internal/database.ts"
import { errorIn } from "./internal/input.ts"
import * as NodeSqlite from "./internal/nodeSqlite.ts"
import * as SqlLayout from "./internal/sqlLayout.ts"
import * as SqlJournal from "./internal/sqlJournal.ts"
import { Journal, type JournalError, type JournalErrorReason, journalVersion, type Mode } from "./Journal.ts"
import * as Records from "./Records.ts"

export type { Mode } from "./Journal.ts"

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
      yield* assertRegular(file)
      if (mode !== "read-only") yield* lock(file)
      const size = yield* sizeOf(file)
      if (mode === "create") {
        if (size > 0) {
          return yield* error(file, "exists", "the file exists already; resume its run or choose another directory")
        }
        yield* create(file)
      } else if (size <= 0) {
        return yield* error(file, "missing", "there is no such journal; check the path or start a new run")
      }
      return yield* open(file, mode)
    })
  )

/** A journal that lasts as long as the layer: for tests and for runs that nobody wants to keep. */
export const layerMemory: Layer.Layer<Journal> = Layer.orDie(
  Layer.effect(
    Journal,
    Effect.suspend(() => open(":memory:", "memory"))
  )
)

/** The bytes `INSP`, by which a SQLite file says that it is a journal. */
const applicationId = 0x494e5350

const tables = SqlLayout.tables({ integer: "INTEGER", real: "REAL", name: "TEXT", bytes: "BLOB", ends: " STRICT" })

const identify = [`PRAGMA application_id = ${applicationId}`, `PRAGMA user_version = ${journalVersion}`]

const Identity = Schema.Tuple([Schema.Struct({ application: Schema.Int, version: Schema.Int })])
const decodeIdentity = Schema.decodeUnknownEffect(Identity)

/** The file appears under its name only when it is a journal. */
const create = Effect.fnUntraced(
  function* (file: string) {
    const partial = `${file}.partial`
    yield* attempt(file, () => {
      rmSync(partial, { force: true })
      // A journal holds what users said. SQLite gives the log beside it the same mode.
      closeSync(openSync(partial, "wx", 0o600))
    })
    const database = yield* NodeSqlite.open(partial, { readOnly: false })
    const { sql } = yield* NodeSqlite.makeClient(database, { readOnly: false })
    yield* run(sql, [...tables, ...identify])
  },
  Effect.scoped,
  (effect, file) =>
    effect.pipe(
      Effect.catchTag("SqlError", (failure) => Effect.fail(onSqlError(file)(failure))),
      Effect.andThen(
        attempt(file, () => {
          renameSync(`${file}.partial`, file)
          // Windows refuses to bring a folder to the disk.
          if (process.platform === "win32") return
          const directory = openSync(dirname(file), "r")
          fsyncSync(directory)
          closeSync(directory)
        })
      )
    )
)

const run = (sql: SqlClient.SqlClient, statements: ReadonlyArray<string>) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true }).pipe(sql.withTransaction)

const open = (file: string, mode: Mode | "memory") =>
  Effect.gen(function* () {
    const readOnly = mode === "read-only"
    // A reader would leave files beside a journal that nobody is writing: without a log it is read as it is.
    const immutable = readOnly && (yield* sizeOf(`${file}-wal`)) <= 0
    const database = yield* NodeSqlite.open(file, { readOnly, immutable })
    const isKept = !readOnly && mode !== "memory"
    const plain = yield* NodeSqlite.makeClient(database, { readOnly })
    const { sql } = plain
    if (mode === "memory") yield* run(sql, [...tables, ...identify])
    yield* checkIdentity(file, sql)
    const client = isKept
      ? yield* NodeSqlite.makeClient(database, { readOnly, sync: yield* NodeSqlite.syncing(database, file) })
      : plain
    return SqlJournal.make({
      sql: client.sql,
      meta: { file, journalVersion },
      onSqlError: onSqlError(file),
      // The lock beside the file keeps other writers away.
      guard: Effect.void,
      erase: truncateLog(client.sql),
      records: recordStatements(client)
    })
  }).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(onSqlError(file)(error))))

/** The log keeps what was deleted while a reader uses it. The checkpoint does not wait for readers: that would block every writer. */
const truncateLog = (sql: SqlClient.SqlClient): Effect.Effect<boolean, SqlError.SqlError> =>
  sql`PRAGMA busy_timeout = 0`.pipe(
    Effect.andThen(sql<{ readonly busy: number }>`PRAGMA wal_checkpoint(TRUNCATE)`),
    Effect.map((rows) => rows.every(({ busy }) => busy === 0)),
    Effect.ensuring(Effect.ignore(sql.unsafe(`PRAGMA busy_timeout = ${NodeSqlite.busyTimeout}`)))
  )

const recordStatements = ({ read, sql, write }: NodeSqlite.Client): RecordStatements => {
  const insertion = (count: number) =>
    `INSERT INTO records (kind, key, step, value, hash) VALUES ${Array(count).fill("(?,?,?,?,?)").join()} ON CONFLICT DO NOTHING`
  const values = (rows: ReadonlyArray<RecordRow>) =>
    rows.flatMap(({ hash, key, kind, step, value }) => [kind, key, step, value, hash])
  return {
    insert: (rows) => sql.unsafe(insertion(rows.length), values(rows)),
    put: (rows) => write(insertion(rows.length), values(rows)),
    select: (kind, keys) =>
      read("SELECT key, step, value, hash FROM records WHERE kind = ? AND key IN (SELECT value FROM json_each(?))", [
        kind,
        JSON.stringify(keys)
      ])
  }
}

const checkIdentity = Effect.fnUntraced(function* (file: string, sql: SqlClient.SqlClient) {
  const rows = yield* sql`
    SELECT application_id AS application, user_version AS version FROM pragma_application_id, pragma_user_version`
  const [{ application, version }] = yield* Effect.mapError(decodeIdentity(rows), (issue) =>
    error(file, "not-a-journal", issue.message, issue)
  )
  if (application !== applicationId) {
    return yield* error(file, "not-a-journal", "the file is not a journal; check the path")
  }
  if (version !== journalVersion)
    return yield* Records.otherVersion(
      { file },
      { field: "the version of its tables", value: version, expected: String(journalVersion) }
    )
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

/** SQLite would wait for the other end of a pipe, in a call that nothing can interrupt. */
const assertRegular = (file: string) =>
  Effect.forEach(["", "-wal", "-shm", "-journal", ".lock", ".lock-journal"], (suffix) =>
    Effect.flatMap(
      attempt(file, () => statSync(`${file}${suffix}`, { throwIfNoEntry: false })),
      (stats) => {
        const problem = stats === undefined ? null : RegularFile.fault(stats)
        return problem === null
          ? Effect.void
          : Effect.fail(error(`${file}${suffix}`, "not-a-journal", `${problem}; check the path`))
      }
    )
  )

/** Size of a file in bytes, or -1 when there is none. */
const sizeOf = (file: string): Effect.Effect<number, JournalError> =>
  attempt(file, () => statSync(file, { throwIfNoEntry: false })?.size ?? -1)

const attempt = <A>(file: string, operation: () => A): Effect.Effect<A, JournalError> =>
  Effect.try({
    try: operation,
    catch: (cause) => error(file, "storage", cause instanceof Error ? cause.message : String(cause))
  })

const onSqlError =
  (file: string) =>
  (failure: SqlError.SqlError): JournalError => {
    switch (NodeSqlite.resultCode(failure)) {
      case NodeSqlite.ResultCode.readOnly:
        return error(file, "storage", "it was opened for reading only", failure)
      case NodeSqlite.ResultCode.corrupt:
        return error(file, "corrupt", `${failure.message}; restore the file from a copy or start a new run`, failure)
      case NodeSqlite.ResultCode.full:
        return error(
          file,
          "storage",
          "the disk is full; make room and resume the run: nothing committed is lost",
          failure
        )
      case NodeSqlite.ResultCode.notADatabase:
        return error(file, "not-a-journal", "the file is not a database; check the path", failure)
      default:
        return error(file, "storage", failure.message, failure)
    }
  }

const error = (file: string, reason: JournalErrorReason, detail: string, cause?: unknown): JournalError =>
  errorIn(file)(reason, detail, null, cause)
