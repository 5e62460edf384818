/** The calls of a chat model as the policy: paid once, within a budget. */
import { type Bookkeeping, Ledger } from "@inspo/ledger"
import { ChatPolicy } from "@inspo/rollout"
import { Journal, type JournalError, Records } from "@inspo/journal"
import { Effect, Result, Semaphore } from "effect"
import { type ConfigError, unknownPrice } from "./ConfigError.ts"

/** What can keep a call from being made. */
export type CallError = Bookkeeping.BudgetReached | ConfigError | JournalError

/**
 * Makes the calls of a chat model as the policy: each is paid once. It begins only if the most that it can cost fits the
 * budget, and its answer is stored on arrival, so that a redo of its episode reads it.
 */
export const make = Effect.fnUntraced(function* (bookkeeping: Bookkeeping.Bookkeeping) {
  const records = Records.make(yield* Journal, "policy", ChatPolicy.ChatAnswer)
  const { usd } = bookkeeping.limits

  /** Every call holds one permit, and one that does not fit what the open ones may cost waits for all of them. */
  const open = yield* Semaphore.make(all)

  return (phase: Ledger.Phase, step: number): ChatPolicy.MakeChatCall<CallError> =>
    ({ atMost, key }, writing) => {
      if (usd !== null && atMost.usd === null) return Effect.fail(unknownPrice("policy", usd))
      const need = { tokens: atMost.tokens, usd: atMost.usd ?? 0, minutes: 0 }
      const payment = { phase, need, most: Ledger.ofSpent(atMost), cost }
      const paid = bookkeeping.once(records, { step, key, payment }, writing)
      return open.withPermit(paid).pipe(Effect.catchTag("BudgetReached", () => open.withPermits(all)(paid)))
    }
})

/** More than there are calls at once. */
const all = 1_000_000

const cost = (written: Result.Result<ChatPolicy.ChatAnswer, ChatPolicy.ChatFailure>): Ledger.Amounts =>
  Ledger.ofSpent(Result.merge(written).spent)
