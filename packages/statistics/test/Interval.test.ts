import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { meanDifference, ofDifference, wilson } from "../src/Interval.ts"

const Trials = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2000 }))
const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

const Difference = Schema.Literals([-1, -0.5, 0, 0.5, 1])
const Differences = Schema.TupleWithRest(Schema.Tuple([Difference, Difference]), [Difference])

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

  it("is [0, 1] without trials", () => {
    assert.deepStrictEqual(wilson(0, 0), [0, 1])
  })

  it.prop(
    "contains the share, is in [0, 1], is symmetric and narrows with more trials",
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

describe("meanDifference", () => {
  it("needs two differences", () => {
    assert.isNull(meanDifference([]))
    assert.isNull(meanDifference([0.5]))
  })

  it.prop(
    "contains the mean, changes sign with the differences, and narrows with more of the same",
    [Differences],
    ([values]) => {
      const found = meanDifference(values)
      const turned = meanDifference(values.map((value) => -value))
      const more = meanDifference([...values, ...values, ...values, ...values])
      if (found === null || turned === null || more === null) throw new Error("there are at least two differences")
      assert.closeTo(found.mean, values.reduce<number>((sum, value) => sum + value, 0) / values.length, 1e-12)
      assert.closeTo((found.ci95[0] + found.ci95[1]) / 2, found.mean, 1e-12)
      assert.closeTo(turned.ci95[0], -found.ci95[1], 1e-12)
      assert.isAtMost(more.ci95[1] - more.ci95[0], found.ci95[1] - found.ci95[0] + 1e-12)
    }
  )

  it("matches the textbook interval", () => {
    // Mean 0.25, standard error √(0.25 / 4) = 0.25.
    const found = meanDifference([1, 0, 0, 0])
    assert.closeTo(found?.ci95[0] ?? Number.NaN, 0.25 - 1.959963984540054 * 0.25, 1e-12)
  })
})

describe("ofDifference", () => {
  // Newcombe (1998), table II, method 10.
  it.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [10, 10, 0, 10, 0.6075, 1]
  ])("of %d in %d and %d in %d is known", (successes, trials, others, otherTrials, low, high) => {
    const [a, b] = ofDifference(
      { mean: successes / trials, ci95: wilson(successes, trials) },
      { mean: others / otherTrials, ci95: wilson(others, otherTrials) }
    )
    assert.closeTo(a, low, 1e-4)
    assert.closeTo(b, high, 1e-4)
  })
})
