import { Result, Schema } from "effect"
import { createHash } from "node:crypto"
import type { StoredEvent } from "../Journal.ts"

/** An event as it lies in the `events` table. */
export const EventRow = Schema.Struct({
  sequence: Schema.Int,
  type: Schema.String,
  step: Schema.Int,
  payload: Schema.String,
  hash: Schema.String
})
export interface EventRow extends Schema.Schema.Type<typeof EventRow> {}

/** How many events a journal holds and the hash of the last one. */
export const Head = Schema.Struct({ events: Schema.Natural, hash: Schema.String })
export interface Head extends Schema.Schema.Type<typeof Head> {}

export const emptyHead: Head = { events: 0, hash: "" }

/** Where a journal stops being what was written. */
export interface Damage {
  readonly sequence: number | null
  readonly detail: string
}

/** The rows that put events behind `head`: each hash covers its event and, through the previous hash, all before it. */
export const link = (
  head: Head,
  events: ReadonlyArray<{ readonly type: string; readonly step: number; readonly payload: string }>
): { readonly rows: ReadonlyArray<EventRow>; readonly head: Head } => {
  const rows: Array<EventRow> = []
  let previous = head
  for (const event of events) {
    const hash = eventHash(previous.hash, { ...event, sequence: previous.events })
    rows.push({ sequence: previous.events, type: event.type, step: event.step, payload: event.payload, hash })
    previous = { events: previous.events + 1, hash }
  }
  return { rows, head: previous }
}

/** Reads stored rows back, in order, unless one of them is missing or changed. */
export const verify = (rows: ReadonlyArray<unknown>, head: Head): Result.Result<ReadonlyArray<StoredEvent>, Damage> => {
  const events: Array<StoredEvent> = []
  let previous = ""
  for (const [sequence, stored] of rows.entries()) {
    const decoded = decodeRow(stored)
    if (Result.isFailure(decoded)) return damage(sequence, "the stored row has lost its form")
    const row = decoded.success
    if (row.sequence !== sequence)
      return damage(sequence, `the event is missing; the next stored one is ${row.sequence}`)
    if (eventHash(previous, row) !== row.hash) return damage(sequence, "the event is not what was appended")
    const payload = decodeJson(row.payload)
    if (Result.isFailure(payload)) return damage(sequence, "the payload is not JSON")
    events.push({ sequence, type: row.type, step: row.step, payload: payload.success })
    previous = row.hash
  }
  if (events.length < head.events) return damage(events.length, "the event and all after it are missing")
  if (events.length > head.events || previous !== head.hash) {
    return damage(head.events, "the event was not appended by a run")
  }
  return Result.succeed(events)
}

/** The hash stored beside a record. */
export const recordHash = (kind: string, key: string, step: number, value: string): string =>
  digest([kind, key, step], value)

/** Reads a JSON text. */
export const decodeJson = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Json))

const decodeRow = Schema.decodeUnknownResult(EventRow)

const damage = (sequence: number, detail: string) => Result.fail({ sequence, detail })

const eventHash = (previous: string, event: Pick<EventRow, "sequence" | "type" | "step" | "payload">): string =>
  digest([previous, event.sequence, event.type, event.step], event.payload)

const digest = (header: ReadonlyArray<string | number>, body: string): string =>
  createHash("sha256").update(JSON.stringify(header)).update(body).digest("hex")
