import { Duration, Option, Result } from "effect"
import { Waiting } from "@inspo/http/client"
import * as Reply from "./Reply.ts"
import type { Broken } from "./Transport.ts"

/** The request is to be sent again. */
export interface Again {
  readonly _tag: "Again"
  readonly status: number | null
  readonly reason: string
  readonly cause?: unknown
  readonly retryAfter: Option.Option<Duration.Duration>
}

export type Verdict<A> =
  | { readonly _tag: "Done"; readonly value: A }
  | { readonly _tag: "Refused"; readonly status: number; readonly reason: string }
  | (Again & { readonly mayHaveActed: boolean })

/** What the answer to a request means for it. */
export const judge = <A>(
  answer: Result.Result<Reply.Reply, Broken>,
  decode: Reply.Decode<A>,
  attempt: number
): Verdict<A> => {
  if (Result.isFailure(answer)) return { ...unanswered(answer.failure), mayHaveActed: true }
  const reply = answer.success
  const { status } = reply
  if (status < 300) {
    const value = decode(reply)
    return Result.isSuccess(value)
      ? { _tag: "Done", value: value.success }
      : { ...again(status, value.failure), mayHaveActed: true }
  }
  const reason = Reply.detail(reply)
  if (status === 402 || status === 425 || status === 429)
    return { ...again(status, reason, reply), mayHaveActed: false }
  if (status === 408 || status >= 500 || (status === 409 && attempt < mostRefusals))
    return { ...again(status, reason, reply), mayHaveActed: true }
  return { _tag: "Refused", status, reason }
}

export type FutureVerdict<A> =
  | { readonly _tag: "Done"; readonly value: A }
  | { readonly _tag: "Pending" }
  | { readonly _tag: "Lost"; readonly reason: string }
  | {
      readonly _tag: "Failed"
      readonly kind: "refused" | "failed" | "invalid"
      readonly status: number
      readonly reason: string
    }
  | Again

export const pending = { _tag: "Pending" } as const

/** What the answer to `retrieve_future` means for the future; `faults` counts the unusable answers before it. */
export const judgeFuture = <A>(
  answer: Result.Result<Reply.Reply, Broken>,
  decode: Reply.Decode<A>,
  faults: number
): FutureVerdict<A> => {
  if (Result.isFailure(answer)) return unanswered(answer.failure)
  const reply = answer.success
  const { status } = reply
  if (status < 300) {
    const state = Reply.state(reply)
    if (state._tag === "Pending") return pending
    if (state._tag === "Failed") return { _tag: "Failed", kind: "failed", status, reason: state.reason }
    const value = decode(reply)
    if (Result.isSuccess(value)) return { _tag: "Done", value: value.success }
    return faults < mostRefusals
      ? again(status, value.failure)
      : { _tag: "Failed", kind: "invalid", status, reason: value.failure }
  }
  const reason = Reply.detail(reply)
  if (status === 408) return pending
  if (status === 404 || status === 410) return { _tag: "Lost", reason }
  if (status === 402 || status === 425 || status === 429 || status >= 500) return again(status, reason, reply)
  return status === 400 && faults < mostRefusals && !Reply.isExplained(reply)
    ? again(status, reason)
    : { _tag: "Failed", kind: status === 400 ? "failed" : "refused", status, reason }
}

/** As long as the server asks for, else ever longer; 5 s while a bill is unpaid. */
export const pause = ({ retryAfter, status }: Again, attempt: number): Duration.Duration =>
  status === 402 ? Duration.seconds(5) : Option.getOrElse(retryAfter, () => Duration.millis(Waiting.backoff(attempt)))

/** Proxies answer 400 and 409 of their own now and then. */
const mostRefusals = 3

const again = (status: number | null, reason: string, reply?: Reply.Reply): Again => ({
  _tag: "Again",
  status,
  reason,
  retryAfter: reply === undefined ? Option.none() : Reply.retryAfter(reply)
})

const unanswered = ({ cause, reason }: Broken): Again => ({ ...again(null, reason), cause })
