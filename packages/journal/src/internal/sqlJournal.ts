import { Array, Effect, Option, Result, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import {
  Expense,
  Journal,
  JournalError,
  type JournalErrorReason,
  type JournalMeta,
  LedgerEntry,
  type LedgerTotal,
  type StoredRecord
} from "../Journal.ts"
import { decodeJson, Head, link, recordHash, verify } from "./chain.ts"

/** Rows per statement: SQLite takes at most 32,766 parameters in one. */
const rowsPerStatement = 500

/** The journal in the tables `events`, `head`, `records` and `ledger` of a database that holds them already. */
export const make = (options: {
  readonly sql: SqlClient.SqlClient
  readonly meta: JournalMeta
  readonly onSqlError: (error: SqlError.SqlError) => JournalError
}): Journal["Service"] => {
  const { meta, sql } = options
  const error = (reason: JournalErrorReason, detail: string, sequence: number | null = null) =>
    new JournalError({ reason, file: meta.file, sequence, detail })
  const storage = <A, R>(effect: Effect.Effect<A, SqlError.SqlError | JournalError, R>) =>
    Effect.catchTag(effect, "SqlError", (error) => Effect.fail(options.onSqlError(error)))

  const encode = (what: string, value: unknown): Effect.Effect<string, JournalError> =>
    isJson(value)
      ? Effect.try({
          try: () => JSON.stringify(value),
          catch: () => error("invalid", `${what} is nested too deeply to be written as JSON`)
        })
      : Effect.fail(error("invalid", `${what} is not a JSON value; encode it with its schema first`))
  const checkName = (what: string, name: string): Effect.Effect<void, JournalError> =>
    name.length > 0 && name.isWellFormed() && !name.includes("\0")
      ? Effect.void
      : Effect.fail(
          error(
            "invalid",
            `${what} is ${JSON.stringify(name)}; expected non-empty text without U+0000 and lone surrogates`
          )
        )
  const checkStep = (step: number): Effect.Effect<void, JournalError> =>
    Number.isSafeInteger(step) ? Effect.void : Effect.fail(error("invalid", `step is ${step}; expected an integer`))

  const readHead = Effect.flatMap(sql`SELECT events, hash FROM head`, (rows) =>
    Option.match(decodeHead(rows), {
      onNone: () => Effect.fail(error("corrupt", "the count of its events is lost; restore the file from a copy")),
      onSome: ([head]) => Effect.succeed(head)
    })
  )

  const append: Journal.Interface["append"] = Effect.fn("Journal.append")(function* (events) {
    if (events.length === 0) return
    const encoded = yield* Effect.forEach(
      events,
      Effect.fnUntraced(function* ({ payload, step, type }) {
        yield* checkName("event type", type)
        yield* checkStep(step)
        return { type, step, payload: yield* encode(`the payload of ${type} at step ${step}`, payload) }
      })
    )
    yield* Effect.gen(function* () {
      const linked = link(yield* readHead, encoded)
      for (const rows of Array.chunksOf(linked.rows, rowsPerStatement)) {
        yield* sql`INSERT INTO events ${sql.insert(rows)}`
      }
      yield* sql`UPDATE head SET events = ${linked.head.events}, hash = ${linked.head.hash}`
    }).pipe(sql.withTransaction)
  }, storage)

  const read: Journal.Interface["read"] = Effect.gen(function* () {
    const [head, rows] = yield* Effect.all([
      readHead,
      sql`SELECT sequence, type, step, payload, hash FROM events ORDER BY sequence`
    ]).pipe(sql.withTransaction)
    return yield* Result.match(verify(rows, head), {
      onFailure: ({ detail, sequence }) =>
        Effect.fail(error("corrupt", `${detail}; restore the file from a copy or start a new run`, sequence)),
      onSuccess: Effect.succeed
    })
  }).pipe(storage, Effect.withSpan("Journal.read"))

  const putRecords: Journal.Interface["putRecords"] = Effect.fn("Journal.putRecords")(function* (kind, step, rows) {
    if (rows.length === 0) return
    yield* checkName("record kind", kind)
    yield* checkStep(step)
    const encoded = yield* Effect.forEach(
      rows,
      Effect.fnUntraced(function* ({ key, value }) {
        yield* checkName("record key", key)
        const text = yield* encode(`the record ${kind} ${key}`, value)
        return { kind, key, step, value: text, hash: recordHash(kind, key, step, text) }
      })
    )
    yield* Effect.forEach(
      Array.chunksOf(encoded, rowsPerStatement),
      (rows) => sql`INSERT INTO records ${sql.insert(rows)} ON CONFLICT DO NOTHING`,
      { discard: true }
    ).pipe(sql.withTransaction)
  }, storage)

  const toRecord = Effect.fnUntraced(function* (kind: string, stored: unknown) {
    const row = decodeRecordRow(stored)
    if (Option.isSome(row)) {
      const { hash, key, step, value } = row.value
      const json = decodeJson(value)
      if (hash === recordHash(kind, key, step, value) && Result.isSuccess(json)) {
        return { key, step, value: json.success } satisfies StoredRecord
      }
    }
    const name = Option.match(row, { onNone: () => kind, onSome: ({ key }) => `${kind} ${key}` })
    return yield* error("corrupt", `the record ${name} is not what was stored; restore the file from a copy`)
  })

  const getRecords: Journal.Interface["getRecords"] = Effect.fn("Journal.getRecords")(function* (kind, keys) {
    const records = new Map<string, StoredRecord>()
    for (const some of Array.chunksOf(keys, rowsPerStatement)) {
      const rows =
        yield* sql`SELECT key, step, value, hash FROM records WHERE kind = ${kind} AND ${sql.in("key", some)}`
      for (const row of rows) {
        const record = yield* toRecord(kind, row)
        records.set(record.key, record)
      }
    }
    const found = new Map<string, Schema.Json>()
    for (const key of keys) {
      const record = records.get(key)
      if (record !== undefined) found.set(key, record.value)
    }
    return found
  }, storage)

  const getRecord: Journal.Interface["getRecord"] = (kind, key) =>
    Effect.map(getRecords(kind, [key]), (records) => Option.fromUndefinedOr(records.get(key)))

  const listRecords: Journal.Interface["listRecords"] = Effect.fn("Journal.listRecords")(function* (kind, step) {
    const ofStep = step === undefined ? sql.literal("1 = 1") : sql`step = ${step}`
    const rows = yield* sql`
      SELECT key, step, value, hash FROM records WHERE kind = ${kind} AND ${ofStep} ORDER BY step, key`
    return yield* Effect.forEach(rows, (row) => toRecord(kind, row))
  }, storage)

  const charge: Journal.Interface["charge"] = Effect.fn("Journal.charge")(function* (entry) {
    const valid = yield* Effect.mapError(decodeEntry(entry), (issue) =>
      error("invalid", `ledger entry: ${issue.message}`)
    )
    yield* checkName("phase", valid.phase)
    yield* sql`INSERT INTO ledger ${sql.insert({ ...valid, redone: valid.redone ? 1 : 0 })}`
  }, storage)

  const ledger: Journal.Interface["ledger"] = Effect.gen(function* () {
    const rows = yield* sql`
      SELECT phase, SUM(rollouts) AS rollouts, SUM(tokens) AS tokens, SUM(calls) AS calls, SUM(usd) AS usd,
        SUM(redone * rollouts) AS "redoneRollouts", SUM(redone * tokens) AS "redoneTokens",
        SUM(redone * calls) AS "redoneCalls", SUM(redone * usd) AS "redoneUsd"
      FROM ledger GROUP BY phase ORDER BY phase`
    const sums = yield* Effect.mapError(decodeSums(rows), (issue) => error("corrupt", `the ledger: ${issue.message}`))
    return sums.map(toTotal)
  }).pipe(storage, Effect.withSpan("Journal.ledger"))

  return Journal.of({ meta, append, read, putRecords, getRecord, getRecords, listRecords, charge, ledger })
}

const isJson = Schema.is(Schema.Json)
const decodeHead = Schema.decodeUnknownOption(Schema.Tuple([Head]))
const decodeEntry = Schema.decodeUnknownEffect(LedgerEntry)

const RecordRow = Schema.Struct({ key: Schema.String, step: Schema.Int, value: Schema.String, hash: Schema.String })
const decodeRecordRow = Schema.decodeUnknownOption(RecordRow)

const LedgerRow = Schema.Struct({
  ...Expense.fields,
  phase: Schema.String,
  redoneRollouts: Expense.fields.rollouts,
  redoneTokens: Expense.fields.tokens,
  redoneCalls: Expense.fields.calls,
  redoneUsd: Expense.fields.usd
})
const decodeSums = Schema.decodeUnknownEffect(Schema.Array(LedgerRow))

const toTotal = (row: typeof LedgerRow.Type): LedgerTotal => ({
  phase: row.phase,
  rollouts: row.rollouts,
  tokens: row.tokens,
  calls: row.calls,
  usd: row.usd,
  redone: { rollouts: row.redoneRollouts, tokens: row.redoneTokens, calls: row.redoneCalls, usd: row.redoneUsd }
})
