import { Clock, Effect, Semaphore } from "effect"

export type Backpressure = Effect.Success<ReturnType<typeof make>>

/**
 * Bounds what is in flight, and holds back when the server asks for it: at most `concurrency` at once. After a refusal nothing
 * new starts for 1 s (5 s where the prompt is above 128 KiB), and for 10 s at most 10 are in flight.
 */
export const make = Effect.fnUntraced(function* (concurrency: number) {
  const permits = yield* Semaphore.make(concurrency)
  let pausedUntil = 0
  let throttledUntil = 0

  const ready = Effect.gen(function* () {
    for (;;) {
      const now = yield* Clock.currentTimeMillis
      if (throttledUntil > 0 && now >= throttledUntil) {
        throttledUntil = 0
        yield* permits.resize(concurrency)
      }
      if (now >= pausedUntil) return
      yield* Effect.sleep(pausedUntil - now)
    }
  })

  return {
    limit: <A, E, R>(work: Effect.Effect<A, E, R>) => permits.withPermit(Effect.andThen(ready, work)),
    /** The server turned a request of so many bytes away. */
    slowDown: Effect.fnUntraced(function* (bytes: number) {
      const now = yield* Clock.currentTimeMillis
      pausedUntil = now + (bytes > largePrompt ? 5000 : 1000)
      throttledUntil = now + 10_000
      yield* permits.resize(Math.min(concurrency, 10))
    })
  }
})

const largePrompt = 128 * 1024
