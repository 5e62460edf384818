import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Schema, Scope } from "effect"
import { Headers } from "effect/http"
import { TestClock } from "effect/testing"
import { Limits } from "@inspo/serve"
import * as Admission from "../src/http/internal/Admission.ts"
import { keyRate, type KeyRate } from "../src/http/internal/Security.ts"

const most = { requests: 6, bytes: 100 }
const Step = Schema.Struct({
  client: Schema.Literals(["a", "b", "c"]),
  bytes: Schema.Literals([0, 1, 20, 50, 51]),
  leaves: Schema.Boolean
})

describe("places", () => {
  it.effect.prop(
    "are given while there are some, at most half to one client, and are free again when their request ends",
    [Schema.Array(Step).check(Schema.isMaxLength(40))],
    ([steps]) =>
      Effect.gen(function* () {
        const places = Admission.make(most)
        let open: ReadonlyArray<{ readonly client: string; readonly bytes: number; readonly scope: Scope.Closeable }> =
          []
        for (const { bytes, client, leaves } of steps) {
          if (leaves) {
            const [first, ...others] = open
            if (first !== undefined) yield* Scope.close(first.scope, Exit.void)
            open = others
            continue
          }
          const own = open.filter((one) => one.client === client)
          const sum = (some: typeof open) => some.reduce<number>((total, one) => total + one.bytes, bytes)
          const isRoom =
            open.length < most.requests && own.length < most.requests / 2 && sum(open) <= most.bytes && sum(own) <= 50
          const scope = yield* Scope.make()
          assert.strictEqual(yield* Scope.provide(places.take(client, bytes), scope), isRoom)
          if (isRoom) open = [...open, { client, bytes, scope }]
        }
      })
  )
})

describe("the rate of the key of agents", () => {
  const rest = Headers.fromInput({ "content-length": "10" })
  const passed = (headers: Headers.Headers, count: number, rate: KeyRate) =>
    Effect.map(
      Effect.forEach(Array.from({ length: count }), () => Effect.exit(rate(headers))),
      (all) => all.filter(Exit.isSuccess).length
    )

  it.effect("counts a body of unknown length as the largest", () =>
    Effect.gen(function* () {
      const rate = yield* keyRate
      const large = Limits.bytesPerSecond / Limits.bodyBytes
      const chunked = Headers.fromInput({ "transfer-encoding": "chunked" })
      assert.strictEqual(yield* passed(chunked, large + 5, rate), large)
      assert.strictEqual(yield* passed(rest, 1, rate), 0)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* passed(rest, 1, rate), 1)
    })
  )
})
