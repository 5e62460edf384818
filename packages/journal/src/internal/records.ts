/** The records of a journal, in the table `records` of a database. */
import { Effect, Option, Result, Schema } from "effect"
import type { Journal, JournalError, RecordGroup, StoredRecord } from "../Journal.ts"
import { decodeJson, recordHash } from "./chain.ts"
import { type Database, perStatement, type RecordRow, spanned } from "./database.ts"
import { checkRecords } from "./input.ts"
import { promisify } from "node:util"
import { constants, zstdCompress, zstdDecompressSync } from "node:zlib"

export const make = (
  database: Database
): Pick<
  Journal.Interface,
  "getRecords" | "listRecords" | "recordKinds" | "listKeys" | "deleteRecords" | "eraseDeleted"
> => ({
  getRecords: getting(database),
  ...listing(database),
  deleteRecords: deleting(database),
  eraseDeleted: database.storage(database.erase)
})

/** Records that are compressed at the same time: as many threads as Node has for it, and some that wait. */
const compressions = 16

/** Records as stored in their table; refuses what cannot be stored there. */
export const rowsOf = Effect.fnUntraced(function* (
  database: Database,
  groups: ReadonlyArray<RecordGroup>
): Effect.fn.Return<ReadonlyArray<RecordRow>, JournalError> {
  const rows: Array<RecordRow> = []
  for (const { key, kind, step, text } of yield* checkRecords(database, groups)) {
    const value = Buffer.from(text)
    if (value.length > largest)
      return yield* database.error(
        "invalid",
        `the record ${kind} ${key} has ${value.length} bytes; expected at most ${largest}`
      )
    rows.push({ kind, key, step, value, hash: recordHash(kind, key, step, text) })
  }
  return rows.some(({ value }) => isLong(value))
    ? yield* Effect.forEach(rows, (row) => Effect.map(compress(row.value), (value) => ({ ...row, value })), {
        concurrency: compressions
      })
    : rows
})

/** Stores rows; one whose key is there already is left out. */
export const insert = ({ records }: Pick<Database, "records">, rows: ReadonlyArray<RecordRow>) =>
  Effect.forEach(perStatement(rows), records.insert, { discard: true })

const getting = (database: Database): Journal.Interface["getRecords"] =>
  Effect.fnUntraced(
    function* (kind, keys) {
      const records = new Map<string, StoredRecord>()
      for (const row of yield* database.records.select(kind, keys)) {
        const record = yield* toRecord(database, kind, row)
        records.set(record.key, record)
      }
      const found = new Map<string, Schema.Json>()
      for (const key of keys) {
        const record = records.get(key)
        if (record !== undefined) found.set(key, record.value)
      }
      return found
    },
    database.storage,
    spanned("Journal.getRecords")
  )

const listing = (database: Database): Pick<Journal.Interface, "listRecords" | "recordKinds" | "listKeys"> => {
  const { read, sql, storage } = database
  return {
    listRecords: Effect.fn("Journal.listRecords")(function* (kind, step) {
      const ofStep =
        step === undefined
          ? sql.literal("1 = 1")
          : typeof step === "number"
            ? sql`step = ${step}`
            : step.before === undefined
              ? sql`step >= ${step.from}`
              : sql`step >= ${step.from} AND step < ${step.before}`
      const rows = yield* sql`
        SELECT key, step, value, hash FROM records WHERE kind = ${kind} AND ${ofStep} ORDER BY step, key`
      return yield* Effect.forEach(rows, (row) => toRecord(database, kind, row))
    }, storage),
    recordKinds: read("the kinds of the records", Kinds, sql`SELECT DISTINCT kind FROM records ORDER BY kind`).pipe(
      Effect.map((kinds) => kinds.map(({ kind }) => kind)),
      storage,
      Effect.withSpan("Journal.recordKinds")
    ),
    listKeys: Effect.fn("Journal.listKeys")(
      (kind) =>
        read(
          `the keys of the records ${kind}`,
          Keys,
          sql`SELECT key, step FROM records WHERE kind = ${kind} ORDER BY step, key`
        ),
      storage
    )
  }
}

const deleting = (database: Database): Journal.Interface["deleteRecords"] => {
  const { commit, erase, sql, storage } = database
  return Effect.fn("Journal.deleteRecords")(function* (kinds, which) {
    const these =
      "before" in which
        ? [sql`step < ${which.before}`]
        : // No character comes after the last one of Unicode.
          which.prefixes.map((prefix) => sql`key >= ${prefix} AND key < ${`${prefix}\u{10ffff}`}`)
    yield* Effect.forEach(
      kinds.flatMap((kind) => these.map((ones) => sql`DELETE FROM records WHERE kind = ${kind} AND ${ones}`)),
      (statement) => statement,
      { discard: true }
    ).pipe(commit)
    return yield* erase
  }, storage)
}

/** A stored row as a record; an error when it is not what was stored. */
const toRecord = Effect.fnUntraced(function* ({ error }: Database, kind: string, stored: unknown) {
  const row = decodeRow(stored)
  if (Option.isSome(row)) {
    const { hash, key, step, value } = row.value
    const json = Result.filterOrFail(
      decompress(value),
      (text) => hash === recordHash(kind, key, step, text),
      () => "another text"
    ).pipe(
      Result.flatMap((text) => Result.try(() => strictUtf8.decode(text))),
      Result.flatMap(decodeJson)
    )
    if (Result.isSuccess(json)) return { key, step, value: json.success } satisfies StoredRecord
  }
  const name = Option.match(row, { onNone: () => kind, onSome: ({ key }) => `${kind} ${key}` })
  return yield* error("corrupt", `the record ${name} is not what was stored; restore the file from a copy`)
})

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const Kinds = Schema.Array(Schema.Struct({ kind: Schema.String }))
const Keys = Schema.Array(Schema.Struct({ key: Schema.String, step: Schema.Int }))

const decodeRow = Schema.decodeUnknownOption(
  Schema.Struct({
    key: Schema.String,
    step: Schema.Int,
    value: Schema.instanceOf(Uint8Array),
    hash: Schema.String
  })
)

/** Texts below this many bytes are stored as they are: compressing them takes longer than writing them. */
const threshold = 4096

/** The first bytes of every zstd frame; no JSON text begins with them. */
const magic = [0x28, 0xb5, 0x2f, 0xfd]

/** Whether a text is stored compressed. */
const isLong = (text: Uint8Array): boolean => text.length >= threshold

/** A JSON text in UTF-8 as it is stored: compressed with zstd, on another thread, when it is long. */
const compress = (text: Uint8Array): Effect.Effect<Uint8Array> =>
  isLong(text) ? Effect.promise(() => zstd(text, options)) : Effect.succeed(text)

/** The bytes that one text may have, so that none that was planted fills the memory. */
const largest = 2 ** 28

/** The text of what {@link compress} made; a failure when the bytes are damaged, or would be more than {@link largest}. */
const decompress = (stored: Uint8Array): Result.Result<Uint8Array, unknown> =>
  Result.try(() =>
    magic.every((byte, at) => stored[at] === byte) ? zstdDecompressSync(stored, { maxOutputLength: largest }) : stored
  )

const zstd = promisify(zstdCompress)
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
