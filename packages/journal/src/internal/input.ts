import { Effect, Schema } from "effect"
import { type JournalError, type JournalErrorReason, LedgerEntry, Reservation, Settlement } from "../Journal.ts"

/** How a store says that a value is refused. */
export interface Store {
  readonly error: (
    reason: JournalErrorReason,
    detail: string,
    sequence?: number | null,
    cause?: unknown
  ) => JournalError
}

/** Refuses names that a database cannot keep as they are. */
export const checkName = ({ error }: Store, what: string, name: string): Effect.Effect<void, JournalError> =>
  name.length > 0 && name.isWellFormed() && !name.includes("\0")
    ? Effect.void
    : Effect.fail(
        error(
          "invalid",
          `${what} is ${JSON.stringify(name)}; expected non-empty text without U+0000 and lone surrogates`
        )
      )

export const checkStep = ({ error }: Store, step: number): Effect.Effect<void, JournalError> =>
  Number.isSafeInteger(step) ? Effect.void : Effect.fail(error("invalid", `step is ${step}; expected an integer`))

/** The JSON text of a value; `what` names it in an error. */
export const encode = ({ error }: Store, what: string, value: unknown): Effect.Effect<string, JournalError> =>
  isJson(value)
    ? Effect.try({
        try: () => JSON.stringify(value),
        catch: (cause) => error("invalid", `${what} is nested too deeply to be written as JSON`, null, cause)
      })
    : Effect.fail(error("invalid", `${what} is not a JSON value; encode it with its schema first`))

export const checkEntry = Effect.fnUntraced(function* (store: Store, entry: LedgerEntry) {
  const valid = yield* decodeEntry(entry).pipe(refused(store, "ledger entry"))
  yield* checkName(store, "phase", valid.phase)
  return valid
})

export const checkReservation = Effect.fnUntraced(function* (store: Store, entry: Reservation) {
  const valid = yield* decodeReservation(entry).pipe(refused(store, "reservation"))
  yield* checkName(store, "phase", valid.phase)
  yield* checkName(store, "key", valid.key)
  return valid
})

export const checkSettlement = (store: Store, settlement: Settlement): Effect.Effect<Settlement, JournalError> =>
  decodeSettlement(settlement).pipe(refused(store, "settlement"))

export const notOpen = ({ error }: Store, id: number): JournalError =>
  error("invalid", `reservation ${id} is not open; expected the id of one that is not settled`)

/** One name for a reservation by phase and key. */
export const reservationName = ({ key, phase }: Pick<Reservation, "phase" | "key">): string =>
  JSON.stringify([phase, key])

const refused = ({ error }: Store, what: string) =>
  Effect.mapError((issue: Schema.SchemaError) => error("invalid", `${what}: ${issue.message}`, null, issue))

const decodeEntry = Schema.decodeUnknownEffect(LedgerEntry)
const decodeReservation = Schema.decodeUnknownEffect(Reservation)
const decodeSettlement = Schema.decodeUnknownEffect(Settlement)
const isJson = Schema.is(Schema.Json)
