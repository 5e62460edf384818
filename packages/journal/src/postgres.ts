import * as PgClient from "@effect/sql-pg/PgClient"
import { Duration, Effect, Layer, type Redacted, Schedule, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { type SqlClient, SqlError } from "effect/sql"
import { type RecordRow, type RecordStatements, transaction } from "./internal/database.ts"
import { errorIn, type Store } from "./internal/input.ts"
import * as SqlLayout from "./internal/sqlLayout.ts"
import * as SqlJournal from "./internal/sqlJournal.ts"
import { Journal, type JournalError, journalVersion, type Mode } from "./Journal.ts"
import * as Records from "./Records.ts"

export interface Options {
  /**
   * Address of the database, such as `postgres://inspo@db.example/runs?sslmode=require`. A password in it is refused, and so is an
   * address on another machine without TLS where there is a password.
   */
  readonly url: string
  readonly password?: Redacted.Redacted | undefined
  /** Name of the run in the database: 1 to 56 letters, digits, `_`, `-` and `.`. */
  readonly run: string
  readonly mode: Mode
  /** How long a writer may stay silent before another may take over. */
  readonly lease: Duration.Input
  /** Runs once, within a third of the lease, that the lease is lost or the database cannot be reached: writing is over. */
  readonly onLost?: (error: JournalError) => Effect.Effect<void>
}

/**
 * A journal in a PostgreSQL database, one schema per run, for runs that other machines read or take over.
 *
 * One writer holds a lease, by the clock of the database, and renews it with each commit and in between. It ends when the
 * writer does, at once where the database sees its connection end. Who opens the journal then gets a higher fencing token,
 * and every later commit of the earlier writer fails with `fenced`.
 *
 * @example
 * ```ts
 * import { layer } from "@inspo/journal/postgres"
 *
 * const journal = layer({ url: "postgres://inspo@127.0.0.1/runs", run: "first", mode: "open", lease: "30 seconds" })
 * ```
 */
export const layer = (options: Options): Layer.Layer<Journal, JournalError> =>
  Layer.effect(
    Journal,
    Effect.flatMap(placeOf(options), (place) =>
      Effect.catchTag(open(options, place), "SqlError", (failure) => Effect.fail(onSqlError(place.error)(failure)))
    )
  )

/** Deletes a run that nobody writes to, with all it holds; one that is not there is deleted already. */
export const remove = (options: Omit<Options, "mode" | "onLost">): Effect.Effect<void, JournalError> =>
  Effect.flatMap(placeOf(options), (place) =>
    Effect.gen(function* () {
      const sql = yield* connect(options, place)
      yield* sql`SELECT set_config('search_path', ${schemaOf(options.run)}, false)`
      yield* checkVersion(sql, place)
      yield* hold(sql, options, place)
      yield* sql.unsafe(`DROP SCHEMA ${schemaOf(options.run)} CASCADE`)
    }).pipe(
      Effect.scoped,
      Effect.catchTag("SqlError", (failure) => Effect.fail(onSqlError(place.error)(failure))),
      Effect.catchIf(
        ({ reason }) => reason === "missing",
        () => Effect.void
      )
    )
  )

const open = Effect.fnUntraced(function* (options: Options, place: Place) {
  const sql = yield* connect(options, place)
  yield* sql`SELECT set_config('search_path', ${schemaOf(options.run)}, false)`
  if (options.mode === "create") yield* create(sql, options, place)
  yield* checkVersion(sql, place)
  // The statements of a transaction see one state of the database, whatever is written meanwhile.
  if (options.mode === "read-only")
    yield* sql`SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`
  const held = options.mode === "read-only" ? null : yield* hold(sql, options, place)
  return SqlJournal.make({
    sql,
    meta: { file: place.name, journalVersion },
    onSqlError: onSqlError(place.error),
    guard: held?.renew ?? Effect.void,
    erase: Effect.succeed(true),
    records: recordStatements(sql, held)
  })
})

/** Where a journal is, without anything secret, and its errors. */
interface Place extends Store {
  readonly name: string
}

const placeOf = Effect.fnUntraced(function* ({
  password: secret,
  run,
  url
}: Pick<Options, "password" | "run" | "url">): Effect.fn.Return<Place, JournalError> {
  const parsed = URL.parse(url)
  const { host = "", password = "", pathname = "" } = parsed ?? {}
  const name = `postgres://${host}${pathname}, run ${run}`
  const error = errorIn(name)
  if (parsed === null || !/^postgres(ql)?:$/u.test(parsed.protocol))
    return yield* error("invalid", "the address is not a URL such as postgres://user@host/database")
  if (password !== "")
    return yield* error("invalid", "the address holds a password; name an environment variable that holds it instead")
  if (secret !== undefined && !encrypts(parsed) && !isLocal(parsed))
    return yield* error(
      "invalid",
      "the password would travel unencrypted to another machine; add ?sslmode=require to the address"
    )
  if (!/^[\w.-]{1,56}$/u.test(run))
    return yield* error("invalid", "the name of the run must be 1 to 56 letters, digits, _, - and .")
  return { name, error }
})

const encrypts = ({ searchParams }: URL): boolean =>
  /^(?:require|verify-ca|verify-full)$/u.test(searchParams.get("sslmode") ?? "")

/** A socket, or an address of this machine. */
const isLocal = ({ hostname, searchParams }: URL): boolean =>
  (searchParams.get("host") ?? hostname).startsWith("/") ||
  /^(?:|localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/u.test(searchParams.get("host") ?? hostname)

const schemaOf = (run: string): string => `"inspo_${run}"`

/** One connection does everything, so that its end is the end of the writer. */
const connect = ({ password, url }: Pick<Options, "password" | "url">, { error }: Place) => {
  const parsed = new URL(url)
  const { hostname, pathname, port, searchParams, username } = parsed
  const socket = searchParams.get("host")
  return PgClient.makeClient({
    ...(socket === null ? { host: hostname } : { host: socket }),
    ...(port === "" ? {} : { port: Number(port) }),
    database: decodeURIComponent(pathname.slice(1)),
    username: decodeURIComponent(username),
    password,
    ...(encrypts(parsed) ? { ssl: true } : {}),
    applicationName: "inspo",
    connectTimeout: "10 seconds",
    keepAlive: "10 seconds",
    maxMessageSize: 1024 ** 3
  }).pipe(
    Effect.provide(Reactivity.layer),
    Effect.mapError(({ message }) =>
      error("storage", `the database cannot be reached: ${message}; check the address and that it is running`)
    )
  )
}

const create = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient, { run }: Options, { error }: Place) {
    const taken = yield* sql`SELECT 1 AS one FROM pg_namespace WHERE nspname = ${`inspo_${run}`}`
    if (taken.length > 0)
      return yield* error("exists", "the database holds this run already; resume it or choose another name")
    yield* sql.unsafe(`CREATE SCHEMA ${schemaOf(run)}`)
    yield* Effect.forEach(tables, (statement) => sql.unsafe(statement), { discard: true })
  },
  (effect, sql, _, { error }) =>
    transaction(sql, effect).pipe(
      // Two runs that make it at once: the database lets one of them.
      failOn([SqlState.uniqueViolation, SqlState.duplicateSchema], () =>
        error("exists", "another run made it at the same moment; choose another name")
      )
    )
)

/**
 * What makes the tables of a run in a schema of its own. JSON is text, since JSONB refuses U+0000, and numbers are double
 * precision, which holds every integer of a journal exactly and reads as a number.
 */
const tables: ReadonlyArray<string> = [
  `CREATE TABLE identity (
    only_one DOUBLE PRECISION PRIMARY KEY CHECK (only_one = 0),
    version DOUBLE PRECISION NOT NULL,
    token DOUBLE PRECISION NOT NULL,
    expires TIMESTAMPTZ NOT NULL
  )`,
  `INSERT INTO identity VALUES (0, ${journalVersion}, 0, '-infinity')`,
  ...SqlLayout.tables({
    integer: "DOUBLE PRECISION",
    real: "DOUBLE PRECISION",
    name: 'TEXT COLLATE "C"',
    bytes: "BYTEA",
    ends: ""
  })
]

const checkVersion = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, { error, name }: Place) {
  const rows = yield* sql`SELECT version FROM identity`.pipe(
    failOn([SqlState.undefinedTable], () =>
      error("missing", "the database holds no such run; check its name or start a new one")
    )
  )
  const [{ version }] = yield* Effect.mapError(decodeVersion(rows), (cause) =>
    error("corrupt", cause.message, null, cause)
  )
  if (version !== journalVersion)
    return yield* Records.otherVersion(
      { file: name },
      { field: "the version of its tables", value: version, expected: String(journalVersion) }
    )
})

/** Takes the lease, and keeps it as long as the scope lives. `renew` fails when the lease was lost. */
const hold = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  options: Pick<Options, "lease" | "onLost" | "run">,
  { error }: Place
) {
  const lease = Math.ceil(Duration.toMillis(options.lease))
  // A writer that freezes within a commit would keep its rows locked, and so the next writer out.
  yield* sql`SELECT set_config('idle_in_transaction_session_timeout', ${String(lease)}, false)`
  // A plan made while the tables were empty would read them whole ever after.
  yield* sql`SELECT set_config('plan_cache_mode', 'force_custom_plan', false)`
  const later = `clock_timestamp() + interval '${lease} milliseconds'`
  const expires = sql.literal(later)
  // Each writer holds the lock of its token. The database drops it when the connection ends: a dead writer need not be
  // waited for.
  const own = yield* Effect.gen(function* () {
    const rows = yield* sql`
      SELECT token, expires < clock_timestamp() AS expired, pg_try_advisory_lock(hashtext(${options.run}), token::int) AS free
      FROM (SELECT token, expires FROM identity FOR UPDATE) AS held`
    const [held] = yield* Effect.mapError(decodeHeld(rows), (cause) => error("corrupt", cause.message, null, cause))
    if (!held.free && !held.expired)
      return yield* error("locked", "another run is writing to it; wait for it to end or stop it first")
    const token = held.token + 1
    yield* sql`UPDATE identity SET token = ${token}, expires = ${expires}`
    yield* sql`SELECT pg_advisory_lock(hashtext(${options.run}), ${token}::int)`
    return { token }
  }).pipe((taking) => transaction(sql, taking))

  const renewal = `UPDATE identity SET expires = ${later} WHERE token = ${own.token} RETURNING token`
  const check = Effect.flatMap((rows: ReadonlyArray<unknown>) =>
    rows.length > 0
      ? Effect.void
      : Effect.fail(
          error("fenced", "another run took over while this one was silent; this one stops and changes nothing more")
        )
  )
  const renew = check(sql.unsafe(renewal))
  const { onLost } = options
  const keep = Schedule.spaced(Duration.millis(lease / 3))
  yield* Effect.forkScoped(
    onLost === undefined
      ? Effect.repeat(Effect.ignore(renew), keep)
      : Effect.repeat(renew, keep).pipe(
          Effect.catchTag("SqlError", (failure) => Effect.fail(onSqlError(error)(failure))),
          Effect.catch(onLost)
        )
  )
  yield* Effect.addFinalizer(() =>
    Effect.ignore(sql`UPDATE identity SET expires = '-infinity' WHERE token = ${own.token}`)
  )
  return { renew, renewal, check }
})

/** A lease that is held: `renewal` is the statement that renews it, and `check` says by its rows whether it was. */
type Held = Effect.Success<ReturnType<typeof hold>>

/** Each of them one text for however many rows, so that the database plans it once. */
const recordStatements = (sql: SqlClient.SqlClient, held: Held | null): RecordStatements => {
  const columns = (rows: ReadonlyArray<RecordRow>) => [
    rows.map(({ kind }) => kind),
    rows.map(({ key }) => key),
    rows.map(({ step }) => String(step)),
    rows.map(({ value }) => value),
    rows.map(({ hash }) => hash)
  ]
  const insertion = (from: string) => `
    INSERT INTO records (kind, key, step, value, hash)
    SELECT given.* FROM ${from} unnest($1::text[], $2::text[], $3::text[]::float8[], $4::bytea[], $5::text[]) AS given
    ON CONFLICT DO NOTHING`
  const insert: RecordStatements["insert"] = (rows) => sql.unsafe(insertion(""), columns(rows))
  return {
    insert,
    // One way to the database and back: the statement is the transaction, and stores nothing where the lease was lost.
    put:
      held === null
        ? insert
        : (rows) =>
            held.check(
              sql.unsafe(
                `WITH held AS (${held.renewal}), stored AS (${insertion("held,")}) SELECT token FROM held`,
                columns(rows)
              )
            ),
    select: (kind, keys) =>
      sql.unsafe("SELECT key, step, value, hash FROM records WHERE kind = $1 AND key = ANY($2::text[])", [kind, keys])
  }
}

const decodeVersion = Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ version: Schema.Int })]))
const decodeHeld = Schema.decodeUnknownEffect(
  Schema.Tuple([Schema.Struct({ token: Schema.Int, expired: Schema.Boolean, free: Schema.Boolean })])
)

/** Turns failures of some states into an error of the journal. */
const failOn =
  (states: ReadonlyArray<string | undefined>, onFailure: () => JournalError) =>
  <A, E, R>(effect: Effect.Effect<A, E | SqlError.SqlError, R>) =>
    Effect.catchIf(
      effect,
      (failure): failure is Extract<E | SqlError.SqlError, SqlError.SqlError> =>
        failure instanceof SqlError.SqlError && states.includes(stateOf(failure)),
      () => Effect.fail(onFailure())
    )

/** The states of PostgreSQL that mean something to a journal. */
const SqlState = {
  undefinedTable: "42P01",
  duplicateSchema: "42P06",
  uniqueViolation: "23505",
  readOnly: "25006",
  diskFull: "53100"
} as const

const stateOf = ({ reason }: SqlError.SqlError): string | undefined => {
  const { cause } = reason
  return cause instanceof Object && "code" in cause && typeof cause.code === "string" ? cause.code : undefined
}

const onSqlError =
  (error: Place["error"]) =>
  (failure: SqlError.SqlError): JournalError => {
    switch (stateOf(failure)) {
      case SqlState.readOnly:
        return error("storage", "it was opened for reading only", null, failure)
      case SqlState.diskFull:
        return error(
          "storage",
          "the disk of the database is full; make room and resume the run: nothing is lost",
          null,
          failure
        )
      default:
        return error("storage", `${failure.message}; resume the run when the database is there`, null, failure)
    }
  }
