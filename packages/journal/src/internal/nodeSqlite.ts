import { closeSync, existsSync, fdatasync, openSync } from "node:fs"
import { Effect, type Scope, Semaphore, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"
import { pathToFileURL } from "node:url"
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"

/** How long a statement waits for a lock that another connection holds, in milliseconds. */
export const busyTimeout = 5000

interface Connection extends SqlConnection.Connection {
  readonly isTransaction: () => boolean
  readonly rows: Client["read"]
}

/**
 * Opens a database file for as long as the scope lives. Nothing is read or written yet. One that is `immutable` is read as
 * it is in its file: nothing is made beside it, and what others write meanwhile is not seen.
 */
export const open = (
  file: string,
  options: { readonly readOnly: boolean; readonly immutable?: boolean; readonly timeout?: number }
) =>
  Effect.acquireRelease(
    attempt("open", () => {
      const { immutable = false, readOnly, timeout = busyTimeout } = options
      return new DatabaseSync(immutable ? immutableUrl(file) : file, { readOnly, timeout })
    }),
    (database) => Effect.sync(() => database.close())
  )

const immutableUrl = (file: string): URL => {
  const url = pathToFileURL(file)
  url.searchParams.set("immutable", "1")
  return url
}

/** Runs statements that return nothing. */
export const exec = (database: DatabaseSync, sql: string): Effect.Effect<void, SqlError.SqlError> =>
  attempt("exec", () => database.exec(sql))

export interface Client {
  readonly sql: SqlClient.SqlClient
  /** The rows of one statement, in less time than `sql` takes. */
  readonly read: (
    statement: string,
    params: ReadonlyArray<SQLInputValue>
  ) => Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>
  /** Runs one statement as a transaction: in less time than it takes to begin and end one. */
  readonly write: (statement: string, params: ReadonlyArray<SQLInputValue>) => Effect.Effect<void, SqlError.SqlError>
}

/**
 * `effect/sql` over one connection of Node's built-in SQLite. Statements and transactions of all fibers take turns. A
 * transaction ends with `sync`; where that fails nothing is known of what the disk holds, and all that follows fails.
 */
export const makeClient = (
  database: DatabaseSync,
  options: { readonly readOnly: boolean; readonly sync?: Effect.Effect<void, SqlError.SqlError> }
): Effect.Effect<Client> =>
  Effect.gen(function* () {
    let broken: Effect.Effect<void, SqlError.SqlError> = Effect.void
    const connection = makeConnection(
      database,
      Effect.suspend(() => broken)
    )
    const sync = Effect.tapError(options.sync ?? Effect.void, (failure) =>
      Effect.sync(() => {
        broken = Effect.fail(failure)
      })
    )
    const acquirers = SqlClient.makeSqliteAcquirers<Connection>({
      connection: Effect.succeed(connection),
      semaphore: Semaphore.makeUnsafe(1),
      isTransaction: (connection) => connection.isTransaction()
    })
    const sql = yield* SqlClient.make({
      ...acquirers,
      compiler: Statement.makeCompilerSqlite(),
      driver: "node-sqlite",
      commit: (transaction) => Effect.andThen(transaction.executeUnprepared("COMMIT", [], undefined), sync),
      // A writer takes its lock at once, so that a transaction never fails half-way because someone else wrote first.
      beginTransaction: options.readOnly ? "BEGIN" : "BEGIN IMMEDIATE",
      releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
      spanAttributes: [["db.system.name", "sqlite"]]
    })
    const read: Client["read"] = (statement, params) => acquirers.borrower(() => connection.rows(statement, params))
    const write: Client["write"] = (statement, params) =>
      Effect.uninterruptible(acquirers.borrower(() => Effect.andThen(connection.rows(statement, params), sync)))
    return { sql, read, write }
  }).pipe(Effect.provide(Reactivity.layer))

/** The result codes of SQLite that mean something to a journal. */
export const ResultCode = { busy: 5, readOnly: 8, corrupt: 11, full: 13, notADatabase: 26 } as const

/** SQLite's own result code of a failed statement, without its extension bits. */
export const resultCode = (error: SqlError.SqlError): number | undefined =>
  error.reason.cause instanceof SqliteFailure ? error.reason.cause.errno & 0xff : undefined

/** An error of `node:sqlite` in the shape that `effect/sql` classifies. */
class SqliteFailure extends Error {
  readonly errno: number
  constructor(message: string, errno: number) {
    super(message)
    this.errno = errno
  }
}

/** Statements that are kept prepared. */
const kept = 100

const makeConnection = (database: DatabaseSync, usable: Effect.Effect<void, SqlError.SqlError>): Connection => {
  const prepared = new Map<string, StatementSync>()
  const prepare = (sql: string): StatementSync => {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    const statement = database.prepare(sql)
    if (prepared.size >= kept) prepared.clear()
    prepared.set(sql, statement)
    return statement
  }
  const rows = (sql: string, params: ReadonlyArray<SQLInputValue>) =>
    Effect.andThen(
      usable,
      attempt("execute", () => prepare(sql).all(...params))
    )
  const raw = (sql: string, params: ReadonlyArray<unknown>) => Effect.suspend(() => rows(sql, params.map(toInputValue)))
  const values = (sql: string, params: ReadonlyArray<unknown>) =>
    Effect.map(raw(sql, params), (rows) => rows.map((row) => Object.values(row)))
  const execute: Connection["execute"] = (sql, params, transformRows) =>
    transformRows === undefined ? raw(sql, params) : Effect.map(raw(sql, params), transformRows)
  return {
    isTransaction: () => database.isOpen && database.isTransaction,
    rows,
    execute,
    executeRaw: raw,
    executeStream: (sql, params, transformRows) => Stream.fromIterableEffect(execute(sql, params, transformRows)),
    executeValues: values,
    executeValuesUnprepared: values,
    executeUnprepared: execute
  }
}

/**
 * Brings the log beside a database to its disk, on another thread: SQLite would keep this one waiting as long as the disk
 * takes. What was committed and not yet brought to the disk is in the log all the same when the process is killed.
 */
export const syncing = (
  database: DatabaseSync,
  file: string
): Effect.Effect<Effect.Effect<void, SqlError.SqlError>, SqlError.SqlError, Scope.Scope> =>
  Effect.gen(function* () {
    yield* exec(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON")
    // SQLite makes the log with the first change, and brings its entry in the folder to the disk.
    yield* exec(database, "BEGIN IMMEDIATE; UPDATE head SET events = events; COMMIT")
    // Where the file system allows no log, SQLite does without.
    if (!existsSync(`${file}-wal`)) return Effect.void
    yield* exec(database, `PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${checkpointPages}`)
    const log = yield* Effect.acquireRelease(
      attempt("open", () => openSync(`${file}-wal`, "r+")),
      (descriptor) => Effect.sync(() => closeSync(descriptor))
    )
    return Effect.callback((resume) =>
      fdatasync(log, (error) => resume(error === null ? Effect.void : Effect.fail(failed("sync")(error))))
    )
  })

/** Pages in the log, of 4 kB, that are moved to the database together. */
const checkpointPages = 4000

const attempt = <A>(operation: string, run: () => A): Effect.Effect<A, SqlError.SqlError> =>
  Effect.try({ try: run, catch: failed(operation) })

const failed =
  (operation: string) =>
  (error: unknown): SqlError.SqlError => {
    const cause = toFailure(error)
    return new SqlError.SqlError({ reason: SqlError.classifySqliteError(cause, { message: cause.message, operation }) })
  }

const toFailure = (error: unknown): Error => {
  if (!(error instanceof Error)) return new Error(String(error))
  return "errcode" in error && typeof error.errcode === "number"
    ? new SqliteFailure(error.message, error.errcode)
    : error
}

const toInputValue = (value: unknown): SQLInputValue => {
  switch (typeof value) {
    case "string":
    case "number":
    case "bigint":
      return value
    case "boolean":
      return value ? 1 : 0
    default:
      if (value === null || value === undefined) return null
      if (value instanceof Uint8Array) return value
      throw new TypeError(`SQLite cannot store a parameter of type ${typeof value}`)
  }
}
