import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { DollarBudget } from "@inspo/ledger"

const share = fc.double({ min: 0, max: 1, noNaN: true })
const Call = fc.record({
  most: fc.double({ min: 0.01, max: 1, noNaN: true }),
  share,
  ticks: fc.integer({ min: 0, max: 5 })
})

/** Makes calls, as many at a time, of which each costs a share of the most that it can cost. */
const spend = Effect.fnUntraced(function* (
  budget: number | null,
  calls: ReadonlyArray<{ readonly most: number; readonly share: number; readonly ticks: number }>,
  concurrency: number
) {
  const money = DollarBudget.make(budget)
  let spent = 0
  let refused = 0
  yield* Effect.forEach(
    calls,
    Effect.fnUntraced(function* ({ most, share, ticks }) {
      const settle = yield* money.reserve(most)
      if (settle === null) {
        refused += 1
        return
      }
      for (let tick = 0; tick < ticks; tick++) yield* Effect.yieldNow
      spent += most * share
      settle(most * share)
    }),
    { concurrency, discard: true }
  )
  return { spent, refused }
})

describe("a budget in US dollars", () => {
  it("is never overdrawn, and refuses only what cannot be paid alone", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(Call, { maxLength: 40 }),
        fc.integer({ min: 1, max: 10 }),
        fc.double({ min: 0.1, max: 5, noNaN: true }),
        async (calls, concurrency, budget) => {
          const { refused, spent } = await Effect.runPromise(spend(budget, calls, concurrency))
          assert.isAtMost(spent, budget + 1e-9)
          if (refused > 0) assert.isAbove(spent + Math.max(...calls.map(({ most }) => most)), budget - 1e-9)
        }
      )
    )
  })

  it("waits where what is left depends on calls that run", async () => {
    const calls = Array.from({ length: 20 }, () => ({ most: 1, share: 0.05, ticks: 3 }))
    const { refused, spent } = await Effect.runPromise(spend(2, calls, 10))
    assert.strictEqual(refused, 0)
    assert.closeTo(spent, 1, 1e-9)
  })

  it("expects of a call of unknown price what the most expensive one did cost", async () => {
    const money = DollarBudget.make(1)
    const first = await Effect.runPromise(money.reserve(null))
    first?.(0.4)
    assert.isTrue(money.allows(null))
    await Effect.runPromise(money.reserve(null))
    assert.isFalse(money.allows(null))
    assert.isTrue(money.allows(0))
  })

  it("has no bottom without a limit", async () => {
    const calls = Array.from({ length: 20 }, () => ({ most: 1e9, share: 1, ticks: 1 }))
    assert.strictEqual((await Effect.runPromise(spend(null, calls, 3))).refused, 0)
  })
})
