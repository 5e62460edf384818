import { Result, Schema } from "effect"
import { hash } from "node:crypto"
import type { StoredEvent } from "../Journal.ts"

/** An event as stored in the `events` table. */
export const EventRow = Schema.Struct({
  sequence: Schema.Int,
  type: Schema.String,
  step: Schema.Int,
  payload: Schema.String,
  state: Schema.NullOr(Schema.String),
  hash: Schema.String
})
export interface EventRow extends Schema.Schema.Type<typeof EventRow> {}

/** How many events a journal holds and the hash of the last one. */
export const Head = Schema.Struct({ events: Schema.Natural, hash: Schema.String })
export interface Head extends Schema.Schema.Type<typeof Head> {}

export const emptyHead: Head = { events: 0, hash: "" }

/** Where a journal stops being what was written. */
export interface Damage {
  readonly sequence: number
  readonly detail: string
}

/** The rows that put events behind `head`: each hash covers its event and, through the previous hash, all before it. */
export const link = (
  head: Head,
  events: ReadonlyArray<Pick<EventRow, "type" | "step" | "payload" | "state">>
): { readonly rows: ReadonlyArray<EventRow>; readonly head: Head } => {
  const rows: Array<EventRow> = []
  let previous = head
  for (const event of events) {
    const hash = eventHash(previous.hash, { ...event, sequence: previous.events })
    rows.push({ ...event, sequence: previous.events, hash })
    previous = { events: previous.events + 1, hash }
  }
  return { rows, head: previous }
}

/** Reads the stored rows behind `start` back, in order, up to the first that is missing or changed. */
export const verify = (
  rows: ReadonlyArray<unknown>,
  head: Head,
  start: Head = emptyHead
): { readonly events: ReadonlyArray<StoredEvent>; readonly damage: Damage | null } => {
  const events: Array<StoredEvent> = []
  const damaged = (sequence: number, detail: string) => ({ events, damage: { sequence, detail } })
  let previous = start.hash
  for (const [index, stored] of rows.entries()) {
    const sequence = start.events + index
    const decoded = decodeRow(stored)
    if (Result.isFailure(decoded)) return damaged(sequence, "the stored row has lost its form")
    const row = decoded.success
    if (row.sequence !== sequence)
      return damaged(sequence, `the event is missing; the next stored one is ${row.sequence}`)
    if (eventHash(previous, row) !== row.hash) return damaged(sequence, "the event is not what was appended")
    const payload = decodeJson(row.payload)
    if (Result.isFailure(payload)) return damaged(sequence, "the payload is not JSON")
    const { state, step, type } = row
    events.push({ sequence, type, step, payload: payload.success, ...(state === null ? {} : { state }) })
    previous = row.hash
  }
  const found = start.events + events.length
  if (found < head.events) return damaged(found, "the event and all after it are missing")
  if (found > head.events || previous !== head.hash) {
    return {
      events: events.slice(0, head.events - start.events),
      damage: { sequence: head.events, detail: "the event was not appended by a run" }
    }
  }
  return { events, damage: null }
}

/** The hash stored beside a record, of its text or the bytes of that in UTF-8. */
export const recordHash = (kind: string, key: string, step: number, value: string | Uint8Array): string =>
  digest([kind, key, step], value)

/** Reads a JSON text: whatever JSON.parse gives is JSON. */
export const decodeJson = (text: string): Result.Result<Schema.Json, unknown> =>
  Result.try((): Schema.Json => JSON.parse(text))

const decodeRow = Schema.decodeUnknownResult(EventRow)

/** Events without a state hash as they did before there were any. */
const eventHash = (
  previous: string,
  { payload, sequence, state, step, type }: Pick<EventRow, "sequence" | "type" | "step" | "payload" | "state">
): string => digest([previous, sequence, type, step, ...(state === null ? [] : [state])], payload)

const digest = (header: ReadonlyArray<string | number>, body: string | Uint8Array): string =>
  hash(
    "sha256",
    typeof body === "string"
      ? JSON.stringify(header) + body
      : Buffer.concat([Buffer.from(JSON.stringify(header)), body])
  )
