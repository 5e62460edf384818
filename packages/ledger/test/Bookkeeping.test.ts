import { assert, describe, it } from "@effect/vitest"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Bookkeeping, Ledger } from "@inspo/ledger"
import { Effect, Exit, Layer, Ref, Schema } from "effect"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** A journal on another machine: while it reserves, other work goes on. */
const layerSlow = Layer.effect(
  Journal,
  Effect.map(Journal, (journal) =>
    Journal.of({ ...journal, reserve: (entries) => Effect.andThen(Effect.yieldNow, journal.reserve(entries)) })
  )
).pipe(Layer.provide(layerMemory))

describe("Works that begin together", () => {
  it.effect.prop(
    "never reserve more than the limit",
    { costs: Schema.Array(between(1, 5)).check(Schema.isMaxLength(12)), limit: between(1, 20) },
    ({ costs, limit }) =>
      Effect.gen(function* () {
        const { payEach } = yield* Bookkeeping.make({ ...Ledger.unlimited, usd: limit })
        const open = yield* Ref.make(0)
        const pay = (usd: number, index: number) => {
          const most = { ...Ledger.nothing, usd }
          return payEach("train", { usd }, [{ key: String(index), most }], (settle) =>
            Effect.gen(function* () {
              assert.isAtMost(yield* Ref.updateAndGet(open, (before) => before + usd), limit)
              yield* Effect.yieldNow
              yield* settle([[String(index), most]])
            })
          )
        }
        const exits = yield* Effect.forEach(costs, (usd, index) => Effect.exit(pay(usd, index)), {
          concurrency: "unbounded"
        })
        const paid = costs.filter((_, index) => exits[index] !== undefined && Exit.isSuccess(exits[index]))
        assert.strictEqual(
          yield* Ref.get(open),
          paid.reduce((sum, usd) => sum + usd, 0)
        )
      }).pipe(Effect.provide(layerSlow))
  )
})
