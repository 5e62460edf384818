import { Array, Effect, Schema, Tracer } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import type { JournalError, JournalMeta } from "../Journal.ts"
import { errorIn, type RecordText } from "./input.ts"

export interface DatabaseOptions {
  readonly sql: SqlClient.SqlClient
  readonly meta: JournalMeta
  readonly onSqlError: (error: SqlError.SqlError) => JournalError
  /** Runs first in every transaction that writes. */
  readonly guard: Effect.Effect<void, SqlError.SqlError | JournalError>
  /** Runs after records were deleted: removes what the database keeps of them, and says whether nothing is left. */
  readonly erase: Effect.Effect<boolean, SqlError.SqlError>
  readonly records: RecordStatements
}

/** What is said about records to a database, in few words: each commit of a server says it. */
export interface RecordStatements {
  /** Stores up to {@link mostPerStatement} of them; one whose key is there already is left out. */
  readonly insert: (rows: ReadonlyArray<RecordRow>) => Statement<unknown>
  /** The same by one guarded statement, which is a transaction of its own. */
  readonly put: (rows: ReadonlyArray<RecordRow>) => Statement<unknown>
  /** Key, step, value and hash of those under some keys. */
  readonly select: (kind: string, keys: ReadonlyArray<string>) => Statement<ReadonlyArray<unknown>>
}

/** A record as stored in the table `records`. */
export interface RecordRow extends Omit<RecordText, "text"> {
  readonly value: Uint8Array
  readonly hash: string
}

type Statement<A, R = never> = Effect.Effect<A, SqlError.SqlError | JournalError, R>

/** The database of a journal, and how its faults are reported. */
export type Database = ReturnType<typeof make>

export const make = ({ erase, guard, meta, onSqlError, records, sql }: DatabaseOptions) => {
  const error = errorIn(meta.file)
  return {
    meta,
    sql,
    erase,
    records,
    error,
    /** The rows of a statement in the form that is expected of them; `what` names them in an error. */
    read: <A, I>(what: string, rows: Schema.Codec<A, I>, statement: Statement<ReadonlyArray<unknown>>): Statement<A> =>
      Effect.flatMap(statement, (found) =>
        Effect.mapError(Schema.decodeUnknownEffect(rows)(found), (issue) =>
          error("corrupt", `${what}: ${issue.message}`, null, issue)
        )
      ),
    /** Turns a fault of the database into one of the journal. */
    storage: <A, R>(effect: Statement<A, R>): Effect.Effect<A, JournalError, R> =>
      Effect.catchTag(effect, "SqlError", (error) => Effect.fail(onSqlError(error))),
    /** Writes all of it, or nothing. */
    commit: <A>(effect: Statement<A>): Statement<A> => transaction(sql, Effect.andThen(guard, effect)),
    insertAll: (table: "events" | "ledger", rows: ReadonlyArray<Record<string, unknown>>) =>
      Effect.forEach(perStatement(rows), (some) => sql`INSERT INTO ${sql(table)} ${sql.insert(some)}`, {
        discard: true
      })
  }
}

/** A span, if there is a tracer: one that is dropped takes longer than a small statement. */
export const spanned =
  (name: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Tracer.Tracer, (tracer) => (tracer === Tracer.nativeTracer ? effect : Effect.withSpan(effect, name)))

/** How many rows one statement takes: SQLite takes at most 32,766 parameters in one. */
export const mostPerStatement = 500

export const perStatement = Array.chunksOf(mostPerStatement)

/**
 * Does all of an effect in the database, or nothing. A connection that is gone cannot be rolled back, which the client takes
 * for a defect: here it is a failure like any other of the database.
 */
export const transaction = <A, E, R>(
  sql: Pick<SqlClient.SqlClient, "withTransaction">,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.catchDefect(sql.withTransaction(effect), (defect): Effect.Effect<never, SqlError.SqlError> =>
    defect instanceof SqlError.SqlError ? Effect.fail(defect) : Effect.die(defect)
  )
