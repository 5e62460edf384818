import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { wilson } from "../../src/report/Interval.ts"

const Trials = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2000 }))
const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

describe("wilson", () => {
  it.each([
    [8, 10, 0.4901625, 0.9433178],
    [0, 10, 0, 0.2775328],
    [10, 10, 0.7224672, 1],
    [15, 148, 0.0624, 0.1605],
    [250, 500, 0.4563466, 0.5436534]
  ])("of %d in %d is known", (successes, trials, low, high) => {
    const [a, b] = wilson(successes, trials)
    assert.closeTo(a, low, 1e-4)
    assert.closeTo(b, high, 1e-4)
  })

  it("knows nothing without trials", () => {
    assert.deepStrictEqual(wilson(0, 0), [0, 1])
  })

  it.prop(
    "holds the share, stays in [0, 1], mirrors and narrows with more trials",
    [Trials, Share],
    ([trials, share]) => {
      const successes = Math.round(share * trials)
      const [low, high] = wilson(successes, trials)
      assert.isTrue(0 <= low && low <= successes / trials && successes / trials <= high && high <= 1)
      const [mirroredLow, mirroredHigh] = wilson(trials - successes, trials)
      assert.closeTo(low, 1 - mirroredHigh, 1e-12)
      assert.closeTo(high, 1 - mirroredLow, 1e-12)
      const [innerLow, innerHigh] = wilson(4 * successes, 4 * trials)
      assert.isBelow(innerHigh - innerLow, high - low)
    }
  )
})
