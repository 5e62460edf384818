import { Effect, Schema } from "effect"
import {
  JournalError,
  type JournalErrorReason,
  LedgerEntry,
  type NewEvent,
  type RecordGroup,
  Reservation,
  Settlement
} from "../Journal.ts"

/** How a store says that a value is refused. */
export interface Store {
  readonly error: (
    reason: JournalErrorReason,
    detail: string,
    sequence?: number | null,
    cause?: unknown
  ) => JournalError
}

/** Errors that name a file or database. */
export const errorIn =
  (file: string): Store["error"] =>
  (reason, detail, sequence = null, cause) =>
    new JournalError({ reason, file, sequence, detail, ...(cause === undefined ? {} : { cause }) })

/** Refuses names that a database cannot keep as they are. */
const checkName = ({ error }: Store, what: string, name: string): void => {
  if (name.length === 0 || !name.isWellFormed() || name.includes("\0"))
    throw error(
      "invalid",
      `${what} is ${JSON.stringify(name)}; expected non-empty text without U+0000 and lone surrogates`
    )
}

const checkStep = ({ error }: Store, step: number): void => {
  if (!Number.isSafeInteger(step)) throw error("invalid", `step is ${step}; expected an integer`)
}

/** The JSON text of a value; `what` names it in an error. */
const encode = ({ error }: Store, what: string, value: unknown): string => {
  if (!isJson(value)) throw error("invalid", `${what} is not a JSON value; encode it with its schema first`)
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw error("invalid", `${what} is nested too deeply to be written as JSON`, null, cause)
  }
}

/** What was checked, or the error that a check throws: a server checks thousands of records a second. */
const checking = <A>(check: () => A): Effect.Effect<A, JournalError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(check())
    } catch (error) {
      return error instanceof JournalError ? Effect.fail(error) : Effect.die(error)
    }
  })

export const checkEntry = Effect.fnUntraced(function* (store: Store, entry: LedgerEntry) {
  const valid = yield* decodeEntry(entry).pipe(refused(store, "ledger entry"))
  yield* checking(() => checkName(store, "phase", valid.phase))
  return valid
})

export const checkReservation = Effect.fnUntraced(function* (store: Store, entry: Reservation) {
  const valid = yield* decodeReservation(entry).pipe(refused(store, "reservation"))
  yield* checking(() => {
    checkName(store, "phase", valid.phase)
    checkName(store, "key", valid.key)
  })
  return valid
})

export const checkSettlement = (store: Store, settlement: Settlement): Effect.Effect<Settlement, JournalError> =>
  decodeSettlement(settlement).pipe(refused(store, "settlement"))

/** An event to store, with the text of its payload. */
export interface EventText {
  readonly type: string
  readonly step: number
  readonly payload: string
  readonly state: string | null
}

/** Events with their payloads as JSON texts; refuses what no store can keep. */
export const checkEvents = (
  store: Store,
  events: ReadonlyArray<NewEvent>
): Effect.Effect<ReadonlyArray<EventText>, JournalError> =>
  checking(() =>
    events.map(({ payload, state, step, type }) => {
      checkName(store, "event type", type)
      checkStep(store, step)
      if (state !== undefined) checkName(store, "event state", state)
      const text = encode(store, `the payload of ${type} at step ${step}`, payload)
      return { type, step, payload: text, state: state ?? null }
    })
  )

/** A record to store, with the text of its value. */
export interface RecordText {
  readonly kind: string
  readonly key: string
  readonly step: number
  readonly text: string
}

/** Records with their values as JSON texts; refuses what no store can keep. */
export const checkRecords = (
  store: Store,
  groups: ReadonlyArray<RecordGroup>
): Effect.Effect<ReadonlyArray<RecordText>, JournalError> =>
  checking(() => {
    const records: Array<RecordText> = []
    for (const { kind, rows, step } of groups) {
      if (rows.length === 0) continue
      checkName(store, "record kind", kind)
      checkStep(store, step)
      for (const { key, value } of rows) {
        checkName(store, "record key", key)
        records.push({ kind, key, step, text: encode(store, `the record ${kind} ${key}`, value) })
      }
    }
    return records
  })

const refused = ({ error }: Store, what: string) =>
  Effect.mapError((issue: Schema.SchemaError) => error("invalid", `${what}: ${issue.message}`, null, issue))

const decodeEntry = Schema.decodeUnknownEffect(LedgerEntry)
const decodeReservation = Schema.decodeUnknownEffect(Reservation)
const decodeSettlement = Schema.decodeUnknownEffect(Settlement)
const isJson = Schema.is(Schema.Json)
