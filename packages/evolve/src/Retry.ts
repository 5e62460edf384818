/** Repeats a function of the user that fails. */
import { Duration, Effect, Schema } from "effect"

/** How long to wait after an error: seconds, or null for the usual pause. */
export type RetryAfter = (error: unknown) => number | null

/** Reads `Retry-After` from the headers of an error, as the SDKs of the providers and the AI SDK carry them. */
export const retryAfter: RetryAfter = (error) => {
  const headers =
    property(error, "responseHeaders") ?? property(error, "headers") ?? property(property(error, "response"), "headers")
  const value = headers instanceof Headers ? headers.get("retry-after") : property(headers, "retry-after")
  const seconds = typeof value === "string" ? Number(value) : NaN
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null
}

/** Whether another attempt cannot help: the provider refuses the key or the request. */
export const isPermanent = (error: unknown): boolean => {
  const status = property(error, "statusCode") ?? property(error, "status")
  return typeof status === "number" && status >= 400 && status < 500 && ![408, 409, 425, 429].includes(status)
}

/** How often a function is repeated, and how long after an error. */
export interface Policy {
  readonly retries: number
  readonly retryAfter: RetryAfter
}

/** A function failed in all its attempts, or for good. */
export class AttemptsFailed extends Schema.TaggedError<AttemptsFailed>()("AttemptsFailed", {
  attempts: Schema.Int,
  cause: Schema.Defect()
}) {}

/** Calls a function until it succeeds, or its repetitions are used up. An attempt that takes longer than `limit` fails. */
export const call = <A>(
  { retries, retryAfter }: Policy,
  run: (signal: AbortSignal, attempt: number) => Promise<A> | A,
  limit?: Duration.Duration
): Effect.Effect<A, AttemptsFailed> => {
  const attempt = (count: number): Effect.Effect<A, AttemptsFailed> => {
    const once = Effect.tryPromise({
      try: async (signal) => run(signal, count),
      catch: (cause) => new AttemptsFailed({ attempts: count + 1, cause })
    })
    return (limit === undefined ? once : within(limit, count, once)).pipe(
      Effect.catch((failure) =>
        count >= retries || isPermanent(failure.cause)
          ? Effect.fail(failure)
          : Effect.andThen(
              Effect.sleep(Duration.seconds(retryAfter(failure.cause) ?? pause(count))),
              attempt(count + 1)
            )
      )
    )
  }
  return attempt(0)
}

const within = <A>(limit: Duration.Duration, count: number, once: Effect.Effect<A, AttemptsFailed>) =>
  Effect.timeoutOrElse(once, {
    duration: limit,
    orElse: () =>
      Effect.fail(
        new AttemptsFailed({ attempts: count + 1, cause: new Error(`no answer within ${Duration.toSeconds(limit)} s`) })
      )
  })

/** Pauses of half a second, one, two … up to 30 seconds. */
const pause = (attempt: number): number => Math.min(30, 0.5 * 2 ** attempt)

const property = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined
