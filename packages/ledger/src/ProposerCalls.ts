import { Journal, type JournalError, Records } from "@inspo/journal"
import { type MakeCall, ModelAnswer, type ProposerError } from "@inspo/reflection"
import { Spent } from "@inspo/domain"
import { Effect, Result, Schema } from "effect"
import type { Bookkeeping, BudgetReached } from "./Bookkeeping.ts"
import * as Ledger from "./Ledger.ts"

/** A limit in US dollars cannot be kept, because the price of the model that would be called is not known. */
export class UnknownPrice extends Schema.TaggedError<UnknownPrice>()("UnknownPrice", { limit: Schema.Finite }) {
  override get message() {
    return (
      `budget: the limit is ${this.limit} US dollars, expected none, because the price of the proposer's model is not ` +
      "known. Give its price, or limit tokens instead"
    )
  }
}

/** What can keep a call from being made. */
export type CallError = BudgetReached | JournalError | UnknownPrice

/**
 * Makes the calls to a proposer: each is booked, and its answer is kept in the journal's records on arrival, so that a
 * redo reads it instead of asking again. `attempt` distinguishes repetitions of a call, which ask again.
 */
export const make = Effect.fnUntraced(function* (bookkeeping: Bookkeeping) {
  const records = Records.make(yield* Journal, "proposer", ModelAnswer)

  return (phase: Ledger.Phase, step: number, attempt: number): MakeCall<CallError> =>
    ({ atMost, key }, ask) => {
      const call = { step, key: `${key}/${attempt}` }
      const { usd } = bookkeeping.limits
      if (usd !== null && atMost.usd === null)
        return bookkeeping.once(records, { ...call, payment: null }, Effect.fail(new UnknownPrice({ limit: usd })))
      const payment = { phase, need: Ledger.needs.call, most: Ledger.ofSpent(atMost), cost }
      return bookkeeping.once(records, { ...call, payment }, ask)
    }
})

const cost = (answered: Result.Result<ModelAnswer, ProposerError>): Ledger.Amounts =>
  Ledger.ofSpent(
    Result.match(answered, {
      onSuccess: ({ spent }) => spent,
      onFailure: ({ spent }) => spent ?? Spent.nothing
    })
  )
