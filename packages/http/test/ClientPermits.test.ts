import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as ClientPermits from "../src/internal/ClientPermits.ts"

describe("permits", () => {
  it.effect.prop(
    "are held by one client up to half, and by all up to their number, in any order",
    [Schema.Array(Schema.Literals(["a", "b", "c"])).check(Schema.isMaxLength(20))],
    ([clients]) =>
      Effect.gen(function* () {
        const permits = ClientPermits.make(4)
        const held: Array<string> = []
        for (const client of clients)
          yield* Effect.forkChild(
            permits.withPermit(client)(
              Effect.andThen(
                Effect.sync(() => void held.push(client)),
                Effect.never
              )
            ),
            { startImmediately: true }
          )
        yield* Effect.yieldNow
        const own = [...Map.groupBy(clients, (client) => client).values()].map(({ length }) => Math.min(length, 2))
        assert.lengthOf(
          held,
          Math.min(
            4,
            own.reduce((sum, one) => sum + one, 0)
          )
        )
        for (const some of Map.groupBy(held, (client) => client).values()) assert.isAtMost(some.length, 2)
      }).pipe(Effect.scoped)
  )
})
