import { Journal, JournalError } from "@inspo/journal"
import { type MakeCall, OptimizerAnswer, type ProposerError, Spent } from "@inspo/reflection"
import { Effect, Result, Schema } from "effect"
import type { Bookkeeping, BudgetReached } from "./Bookkeeping.ts"
import { type BudgetConfig, type ConfigError, unknownPrice } from "./Config.ts"
import * as Ledger from "./Ledger.ts"

const kind = "optimizer"

const encode = Schema.encodeEffect(OptimizerAnswer)
const decode = Schema.decodeUnknownEffect(OptimizerAnswer)

/** What can keep a call from being made. */
export type CallError = BudgetReached | JournalError | ConfigError

/**
 * Makes the calls to an optimizer: each is booked, and its answer is kept in the journal's records on arrival, so that a
 * redo reads it instead of asking again. `attempt` tells repetitions of a call apart, which ask anew.
 */
export const make = Effect.fnUntraced(function* (budget: BudgetConfig, bookkeeping: Bookkeeping) {
  const journal = yield* Journal

  const read = Effect.fnUntraced(function* (key: string) {
    const record = (yield* journal.getRecords(kind, [key])).get(key)
    if (record === undefined) return null
    return yield* Effect.mapError(
      decode(record),
      (error) =>
        new JournalError({
          reason: "corrupt",
          file: journal.meta.file,
          sequence: null,
          detail: `the optimizer's answer ${key} cannot be read: ${error.message}`,
          cause: error
        })
    )
  })

  return (phase: Ledger.Phase, step: number, attempt: number): MakeCall<CallError> =>
    Effect.fnUntraced(function* (call, ask) {
      const key = `${call.key}/${attempt}`
      const stored = yield* read(key)
      if (stored !== null) return stored
      if (budget.usd !== null && call.atMost.usd === null) return yield* unknownPrice("optimizer", budget.usd)
      const asked = yield* bookkeeping.pay(
        phase,
        Ledger.needs.call,
        [{ key, most: Ledger.ofSpent(call.atMost) }],
        Effect.result(ask),
        (answered) => [Ledger.ofSpent(spentOn(answered))]
      )
      if (Result.isFailure(asked)) return yield* asked.failure
      yield* journal.putRecords(kind, step, [{ key, value: yield* Effect.orDie(encode(asked.success)) }])
      return asked.success
    })
})

const spentOn = (answered: Result.Result<OptimizerAnswer, ProposerError>): Spent.Spent =>
  Result.match(answered, {
    onSuccess: ({ spent }) => spent,
    onFailure: ({ spent }) => spent ?? Spent.nothing
  })
