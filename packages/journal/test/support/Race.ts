import { assert } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import type { Journal, JournalError } from "../../src/index.ts"

/** Eight writers that come at once: one gets the journal, and the others are told that it is taken. */
export const raceForOne = Effect.fnUntraced(function* (layer: () => Layer.Layer<Journal, JournalError>) {
  const start = yield* Deferred.make<void>()
  const scope = yield* Scope.make()
  const attempts = yield* Effect.forEach(Array.from({ length: 8 }), () =>
    Effect.andThen(Deferred.await(start), Effect.result(Layer.buildWithScope(Layer.fresh(layer()), scope))).pipe(
      Effect.forkChild({ startImmediately: true })
    )
  )
  yield* Deferred.succeed(start, undefined)
  const results = yield* Effect.forEach(attempts, (fiber) => Fiber.join(fiber))
  assert.lengthOf(
    results.filter(({ _tag }) => _tag === "Success"),
    1
  )
  for (const result of results)
    if (result._tag === "Failure") assert.include(["locked", "exists"], result.failure.reason)
  yield* Scope.close(scope, Exit.void)
})
