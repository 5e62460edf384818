/** What a population or its journal refuses, as problems. */
import type { Refused } from "@inspo/cohorts"
import type { JournalError } from "@inspo/journal"
import { Effect } from "effect"
import { Conflict, InvalidRequest, NotActive, NotFound, NotKept, type Refusal, TooManyRequests } from "../Errors.ts"

/** Problems that a command may come to. */
export type Problem = InvalidRequest | NotFound | Conflict | TooManyRequests | NotKept | NotActive

/** What a journal comes to that cannot be read or written. */
export type Unavailable = NotKept | NotActive

/** A refused command as a problem. */
export const ofRefused = (refused: Refused): Exclude<Problem, Unavailable> => {
  const { code, field, value } = refused
  const { expected, remedy } = refusal(refused)
  switch (code) {
    case "invalid":
      return new InvalidRequest({ field, value, expected, remedy, detail: refused.message })
    case "missing":
      return new NotFound({
        what: field === "cohort" || field === "to" ? "cohort" : "instruction",
        name: value,
        remedy,
        detail: refused.message
      })
    case "limit":
      return new TooManyRequests({ retryAfter: 60, limit: expected, detail: refused.message })
    case "conflict":
    case "closed":
      return new Conflict({
        differences: [{ field, stands: expected, given: value }],
        remedy,
        detail: refused.message
      })
  }
}

/** What is wrong with a value; a population says how to mend it behind what it expects. */
export const refusal = ({ expected: said, field, value }: Refused): Refusal => {
  const [expected = said, ...remedy] = said.split(". ")
  return {
    field: field.replace(/ of .*$/su, ""),
    value,
    expected,
    remedy: remedy.length === 0 ? "Send what is expected" : remedy.join(". ")
  }
}

/** A journal that cannot be written or read as a problem: another server may have taken over. */
export const ofJournal = (error: JournalError): Unavailable =>
  error.reason === "fenced" || error.reason === "locked"
    ? new NotActive({ retryAfter: 1, detail: error.message })
    : new NotKept({
        remedy: "Mend what the server says of its journal, then send the same again",
        detail: error.message
      })

/** Of settings that no population can be made with, or of a journal. */
export const ofMaking = (error: Refused | JournalError): InvalidRequest | Unavailable =>
  error._tag === "Refused" ? new InvalidRequest({ ...refusal(error), detail: error.message }) : ofJournal(error)

/** Of a command that no population refuses. */
export const ofFault = (error: Refused | JournalError): Effect.Effect<never, Unavailable> =>
  error._tag === "Refused" ? Effect.die(error) : Effect.fail(ofJournal(error))

/** Any of them. */
export const ofFailure = (error: Refused | JournalError): Problem =>
  error._tag === "Refused" ? ofRefused(error) : ofJournal(error)
