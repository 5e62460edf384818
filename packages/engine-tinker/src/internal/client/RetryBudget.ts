import { Waiting } from "@inspo/http/client"
import { Clock, Duration, Effect, Option } from "effect"
import { type Again, pause } from "./Verdict.ts"

export type RetryBudget = ReturnType<typeof make>

/** How long a server is waited for, never without a word. */
export const make = (url: string, retryBudget: Duration.Input) => {
  const report = Waiting.make(url)
  const limit = Duration.toMillis(retryBudget)
  return {
    /** Says what a request waits for. */
    report,
    /** In milliseconds. */
    limit,
    /** Waits before a request is sent again, within the retryBudget that runs from `since`; false when that is at its end. */
    wait: Effect.fnUntraced(function* (path: string, verdict: Again, attempt: number, since: number) {
      const waited = (yield* Clock.currentTimeMillis) - since
      const left = (verdict.status === 402 ? billingPatience : limit) - waited
      const asked = Duration.toMillis(pause(verdict, attempt))
      if (left <= 0) return false
      const status = verdict.status === null ? "" : `${verdict.status}: `
      const until =
        asked > left && Option.isSome(verdict.retryAfter)
          ? `it asks to wait ${Waiting.span(asked)}, there will be one more try in ${Waiting.span(left)}`
          : `trying for ${Waiting.span(left)} more`
      // A busy server paces its clients: that is worth a word when it takes long.
      if (verdict.status !== 429 || asked + waited > busyFor)
        yield* report(path, `${status}${verdict.reason}; ${until}`)
      yield* Effect.sleep(Math.min(asked, left))
      return true
    })
  }
}

const billingPatience = 3_600_000

/** From how many milliseconds on it is said that a server is busy. */
const busyFor = 10_000
