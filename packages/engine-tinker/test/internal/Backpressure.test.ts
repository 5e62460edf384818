import { assert, it } from "@effect/vitest"
import * as Backpressure from "../../src/internal/client/Backpressure.ts"
import { Effect, Fiber, Ref } from "effect"
import { TestClock } from "effect/testing"

it.effect("after a refusal begins nothing for a second, then ten at once, and after ten seconds as before", () =>
  Effect.gen(function* () {
    const { limit, slowDown } = yield* Backpressure.make(64)
    const inFlight = yield* Ref.make(0)
    const add = (n: number) => Ref.update(inFlight, (now) => now + n)
    const one = limit(
      Effect.acquireUseRelease(
        add(1),
        () => Effect.never,
        () => add(-1)
      )
    )
    const most = Effect.fnUntraced(function* () {
      const fibers = yield* Effect.forEach(Array.from({ length: 100 }), () => Effect.forkChild(one))
      yield* TestClock.adjust(0)
      const begun = yield* Ref.get(inFlight)
      yield* Effect.forEach(fibers, Fiber.interrupt, { concurrency: "unbounded" })
      return begun
    })
    assert.strictEqual(yield* most(), 64)
    yield* slowDown(1)
    assert.strictEqual(yield* most(), 0)
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* most(), 10)
    yield* TestClock.adjust("9 seconds")
    // The first one that begins sees that the time is over.
    yield* limit(Effect.void)
    assert.strictEqual(yield* most(), 64)
    yield* slowDown(200_000)
    yield* TestClock.adjust("4 seconds")
    assert.strictEqual(yield* most(), 0)
  })
)
