/** Turns what a population or its journal refuses into problems of the API. */
import type { Refused } from "@inspo/cohorts"
import type { JournalError } from "@inspo/journal"
import { Effect, Struct } from "effect"
import {
  Conflict,
  InvalidRequest,
  NotActive,
  NotFound,
  type Refusal,
  StorageFailed,
  TooManyRequests
} from "../Errors.ts"

/** Problems of a command. */
export type Problem = InvalidRequest | NotFound | Conflict | TooManyRequests | Unavailable

/** Problems of a journal that cannot be written or read. */
export type Unavailable = StorageFailed | NotActive

/** The fields of a refused command that the API shows. */
export const refusal = (refused: Refused): Refusal => Struct.pick(refused, ["field", "value", "expected", "remedy"])

/** A journal that cannot be written or read: another server may have taken over. */
export const ofJournal = ({ message, reason }: JournalError): Unavailable =>
  reason === "fenced" || reason === "locked"
    ? new NotActive({ retryAfter: 1, detail: message })
    : new StorageFailed({ remedy: "Fix the journal as the detail says, then send the request again", detail: message })

/** For settings that no population can have. */
export const ofCreation = (error: Refused | JournalError): InvalidRequest | Unavailable =>
  error._tag === "Refused" ? new InvalidRequest({ ...refusal(error), detail: error.message }) : ofJournal(error)

/** For a command that no population refuses. */
export const ofFault = (error: Refused | JournalError): Effect.Effect<never, Unavailable> =>
  error._tag === "Refused" ? Effect.die(error) : Effect.fail(ofJournal(error))

/** For any command. */
export const ofFailure = (error: Refused | JournalError): Problem => {
  if (error._tag !== "Refused") return ofJournal(error)
  const { code, expected, field, message: detail, remedy, value } = error
  switch (code) {
    case "invalid":
      return new InvalidRequest({ ...refusal(error), detail })
    case "missing": {
      const what = field === "cohort" || field === "to" ? "cohort" : "instruction"
      return new NotFound({ what, name: value, remedy, detail })
    }
    case "limit":
      return new TooManyRequests({ retryAfter: 60, limit: expected, remedy, detail })
    case "conflict":
    case "closed":
      return new Conflict({ differences: [{ field, current: expected, given: value }], remedy, detail })
  }
}
