import { assert, describe, it } from "@effect/vitest"
import { Effect, Queue, Ref, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as RequestQueue from "../../src/internal/server/RequestQueue.ts"

const Arrivals = Schema.Array(Schema.Finite)

describe("RequestQueue", () => {
  it.effect.prop("runs jobs in the order of their numbers, whatever the order they arrive in", [Arrivals], ([keys]) =>
    Effect.gen(function* () {
      const arrivals = keys.map((key, index) => ({ key, sequence: index + 1 })).sort((a, b) => a.key - b.key)
      const ran = yield* Queue.unbounded<number>()
      const offer = yield* RequestQueue.make("5 seconds")
      for (const { sequence } of arrivals) yield* offer({ sequence, run: Effect.asVoid(Queue.offer(ran, sequence)) })
      assert.deepStrictEqual(
        yield* Queue.takeN(ran, keys.length),
        keys.map((_, index) => index + 1)
      )
    }).pipe(Effect.scoped)
  )

  it.effect("continues without a number that never comes", () =>
    Effect.gen(function* () {
      const done = yield* Ref.make<ReadonlyArray<number>>([])
      const offer = yield* RequestQueue.make("5 seconds")
      for (const sequence of [4, 2])
        yield* offer({ sequence, run: Ref.update(done, (before) => [...before, sequence]) })
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Ref.get(done), [])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* Ref.get(done), [2, 4])
    }).pipe(Effect.scoped)
  )
})
