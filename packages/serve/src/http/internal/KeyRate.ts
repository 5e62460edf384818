/** The rate limit of the lease key. */
import { Effect } from "effect"
import type { Headers } from "effect/http"
import { RateLimiter } from "effect/persistence"
import { TooManyRequests } from "../../wire/Errors.ts"
import * as Limits from "../../wire/Limits.ts"

export type KeyRate = (headers: Headers.Headers) => Effect.Effect<void, TooManyRequests>

/** Refuses requests with the lease key beyond its rate, by requests and by the bytes of their bodies. */
export const make: Effect.Effect<KeyRate> = Effect.map(
  Effect.provide(RateLimiter.make, RateLimiter.layerStoreMemory),
  (limiter): KeyRate =>
    (headers) => {
      // A body of unknown length counts as the largest.
      const largest = headers["transfer-encoding"] === undefined ? 0 : Limits.bodyBytes
      const bytes = Number(headers["content-length"] ?? largest)
      const rate = { algorithm: "token-bucket", onExceeded: "fail", window: "1 second" } as const
      return limiter.consume({ ...rate, key: "requests", limit: Limits.requestsPerSecond }).pipe(
        Effect.andThen(limiter.consume({ ...rate, key: "bytes", limit: Limits.bytesPerSecond, tokens: bytes })),
        Effect.mapError(() => exceeded)
      )
    }
)

const exceeded = new TooManyRequests({
  retryAfter: 1,
  limit: `${Limits.requestsPerSecond} requests and ${Limits.bytesPerSecond} bytes per second`,
  remedy: "Wait a second, and send more leases or rewards in one request",
  detail: "The lease key has reached its rate limit."
})
