/** What is left of a budget in US dollars while several calls run. */
import { Effect } from "effect"

export interface DollarBudget {
  /** What the most expensive call did cost. */
  readonly largest: () => number
  /** Whether a call can be paid, where all that run cost the most that they can. */
  readonly allows: (most: number | null) => boolean
  /** Keeps what a call can cost; waits where that depends on what others will have cost. Null if it cannot be paid. */
  readonly reserve: (most: number | null) => Effect.Effect<((usd: number) => void) | null>
}

/** What functions of the user report to cost, in US dollars. */
export interface Bill {
  usd: number
}

/** Adds prices to a bill. Throws `RangeError` on what is no price. */
export const spending =
  (bill: Bill) =>
  (usd: number): void => {
    if (!(Number.isFinite(usd) && usd >= 0))
      throw new RangeError(`spend: ${usd} US dollars; expected a number of at least 0`)
    bill.usd += usd
  }

/** A budget of so much; null for no limit. A call of unknown price costs at most what the most expensive one did. */
export const make = (usd: number | null): DollarBudget => {
  let left = usd ?? Infinity
  let largest = 0
  const running = new Set<{ readonly most: number | null }>()
  const waiting: Array<() => void> = []
  const allows = (most: number | null): boolean => {
    const reserved = [...running, { most }].reduce((sum, one) => sum + (one.most ?? largest), 0)
    return most === 0 || (left > 0 && left >= reserved)
  }
  const reserve: DollarBudget["reserve"] = (most) =>
    Effect.suspend(() => {
      if (!allows(most))
        return running.size === 0
          ? Effect.succeed(null)
          : Effect.andThen(
              Effect.callback<void>((resume) => {
                waiting.push(() => resume(Effect.void))
              }),
              reserve(most)
            )
      const call = { most }
      running.add(call)
      return Effect.succeed((spent: number) => {
        running.delete(call)
        left -= spent
        largest = Math.max(largest, spent)
        for (const wake of waiting.splice(0)) wake()
      })
    })
  return { largest: () => largest, allows, reserve }
}
