/** The text of a journal in a file: a head, then one line for each write, whose hash covers all lines before it. Pure. */
import { Result, Schema } from "effect"
import { createHash } from "node:crypto"
import { Expense, type StoredEvent } from "../Journal.ts"

/** Whatever JSON.parse gives is JSON. */
const Parsed = Schema.declare((value: unknown): value is Schema.Json => value !== undefined)

const EventEntry = Schema.Struct({
  type: Schema.String,
  step: Schema.Int,
  payload: Parsed,
  state: Schema.optionalKey(Schema.String)
})

const RecordEntry = Schema.Struct({ kind: Schema.String, key: Schema.String, step: Schema.Int, value: Parsed })
export interface RecordEntry extends Schema.Schema.Type<typeof RecordEntry> {}

/** A row of the ledger, whose number is its place from 1. `key` is that of a reservation, `settles` the number of the one that it settles. */
const LedgerEntry = Schema.Struct({
  ...Expense.fields,
  phase: Schema.String,
  key: Schema.NullOr(Schema.String),
  settles: Schema.NullOr(Schema.Int),
  redone: Schema.Boolean
})
export interface LedgerEntry extends Schema.Schema.Type<typeof LedgerEntry> {}

/** What one write stores: all of it or nothing, since a line is whole or not. */
const Write = Schema.Struct({
  events: Schema.optionalKey(Schema.Array(EventEntry)),
  records: Schema.optionalKey(Schema.Array(RecordEntry)),
  ledger: Schema.optionalKey(Schema.Array(LedgerEntry))
})
export interface Write extends Schema.Schema.Type<typeof Write> {}

/** What a file says that it is, in its first line. `of` names it in messages. */
export interface Format {
  readonly name: string
  readonly version: number
  readonly of: string
}

export const headOf = ({ name, version }: Format): string => `${JSON.stringify({ format: name, version })}\n`

/** The end of what is intact: how many bytes that are, and the hash of the last line. */
export interface End {
  readonly bytes: number
  readonly hash: string
}

/** The end of a file that is empty. */
const nowhere: End = { bytes: 0, hash: "" }

/** The end of a file that holds its head alone. */
export const begun = (head: string): End => ({ bytes: head.length, hash: "" })

/** The line of a write behind an end, and the end then. */
export const line = ({ bytes, hash }: End, write: Write): { readonly text: string; readonly end: End } => {
  const rest = JSON.stringify(write).slice(1)
  const own = hashOf(hash, rest)
  const text = `${opening}${own}",${rest}\n`
  return { text, end: { bytes: bytes + Buffer.byteLength(text), hash: own } }
}

export interface Contents {
  readonly writes: ReadonlyArray<Write>
  readonly end: End
  /** The end before the last line. */
  readonly before: End
  /** The bytes of a last line that does not end: it is being written, or was cut off by a crash. */
  readonly torn: number
  /** Null if all lines are what was written. */
  readonly damage: Damage | null
}

/** The first line that is not what was written, counted from 1, and why. */
export interface Damage {
  readonly line: number
  readonly detail: string
}

/** Reads a file up to the first line that is not what was written; fails on one of another format, with its version or null. */
export const read = (format: Format, bytes: Uint8Array): Result.Result<Contents, string | null> => {
  const head = headOf(format)
  const start = Buffer.from(bytes.subarray(0, head.length)).toString("latin1")
  if (start === head) return Result.succeed(readFrom(begun(head), bytes.subarray(head.length)))
  // Nothing is in it, or a crash cut off its head.
  if (head.startsWith(start) && (start === "" || start.length >= leastHead))
    return Result.succeed({ writes: [], end: nowhere, before: nowhere, torn: bytes.length, damage: null })
  return Result.fail(start.startsWith(`{"format":${JSON.stringify(format.name)},"version":`) ? versionIn(start) : null)
}

/** The same for the lines behind an end. */
export const readFrom = (from: End, bytes: Uint8Array): Contents => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const writes: Array<Write> = []
  let [before, end, at] = [from, from, 0]
  for (;;) {
    const stop = buffer.indexOf("\n", at)
    if (stop < 0) return { writes, before, end, torn: buffer.length - at, damage: null }
    const found = writeOf(end.hash, buffer.subarray(at, stop))
    if (typeof found === "string")
      return { writes, before, end, torn: 0, damage: { line: writes.length + 2, detail: found } }
    writes.push(found.write)
    at = stop + 1
    before = end
    end = { bytes: from.bytes + at, hash: found.hash }
  }
}

/** The events of writes, numbered from the first. */
export const eventsOf = (writes: ReadonlyArray<Write>, first = 0): ReadonlyArray<StoredEvent> =>
  writes.flatMap(({ events = [] }) => events).map((event, index) => ({ sequence: first + index, ...event }))

/** The text of a file with these writes; those that store nothing are left out. */
export const textOf = (head: string, writes: ReadonlyArray<Write>): string => {
  let [text, end] = [head, begun(head)]
  for (const write of writes) {
    if (isEmpty(write)) continue
    const next = line(end, write)
    text += next.text
    end = next.end
  }
  return text
}

export const isEmpty = ({ events = [], ledger = [], records = [] }: Write): boolean =>
  events.length + records.length + ledger.length === 0

const versionIn = (start: string): string | null => /"version":(\d+)/u.exec(start)?.[1] ?? null

/** A shorter text can be that of another program. */
const leastHead = '{"format":"'.length

const opening = '{"hash":"'
const closing = '",'
const hashLength = 64

/** A line that follows from the hash of the one before; else what is wrong with it. */
const writeOf = (before: string, text: Buffer): { readonly write: Write; readonly hash: string } | string => {
  const from = opening.length + hashLength
  const hash = text.subarray(opening.length, from).toString("latin1")
  const rest = text.subarray(from + closing.length)
  const marks = `${text.subarray(0, opening.length).toString("latin1")}${text.subarray(from, from + closing.length).toString("latin1")}`
  if (marks !== `${opening}${closing}` || hashOf(before, rest) !== hash) return "is not what was written"
  const write = decode(`{${rest.toString("utf8")}`)
  return Result.isSuccess(write) ? { write: write.success, hash } : `has another form: ${write.failure.message}`
}

const hashOf = (before: string, rest: string | Uint8Array): string =>
  createHash("sha256").update(before).update(rest).digest("hex")

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(Write))
