import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { distances, ends, logEnds, logTicks, ticks } from "../src/Axis.ts"
import { percent } from "@inspo/report"

const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
const Bounds = Schema.Struct({ fromZero: Schema.Boolean, most: Schema.Literals([1, 1e9]) })

describe("the ends of an axis", () => {
  it.prop("contain the values", [Schema.Finite, Schema.Finite, Bounds], ([a, b, bounds]) => {
    const [low, high] = [Math.min(a, b) / 2, Math.max(a, b) / 2]
    const [bottom, top] = ends(low, high, bounds)
    assert.isTrue(bottom <= low && top >= high && bottom < top)
  })

  it.prop("are in the range of shares, for any shares", [Share, Share, Schema.Boolean], ([a, b, fromZero]) => {
    const [bottom, top] = ends(Math.min(a, b), Math.max(a, b), { fromZero, most: 1 })
    assert.isTrue(bottom >= 0 && top <= 1)
    if (fromZero) assert.strictEqual(bottom, 0)
  })

  it("are not below 0 unless a value is", () => {
    assert.deepStrictEqual(ends(0, 0), [0, 1])
    assert.isBelow(ends(-1, 0)[0], -1)
  })
})

describe("the values of an axis", () => {
  it.prop("are at the positions of their labels, for any scale", [Share, Share], ([a, b]) => {
    const [low, high] = [Math.min(a, b), Math.max(a, b)]
    if (high - low < 0.05) return
    const values = ticks(low, high)
    assert.isTrue(values.length >= 2 && values.length <= 6, values.join())
    for (const value of values) {
      assert.isTrue(value >= low - 1e-12 && value <= high + 1e-12)
      assert.closeTo(Number.parseFloat(percent(value, 0)) / 100, value, 1e-12)
    }
  })

  it("are 1, 2 or 5 times a power of ten apart, so never 22.5 %", () => {
    assert.deepStrictEqual(ticks(0, 0.9), [0, 0.2, 0.4, 0.6, 0.8])
    for (const distance of distances) assert.match(distance.toExponential(), /^[125]e/u)
  })
})

describe("a logarithmic axis", () => {
  const Hundredths = Schema.Int.check(Schema.isBetween({ minimum: -900, maximum: 900 }))

  it.prop("contains its values and has at least two round ones on it", [Hundredths, Hundredths], ([a, b]) => {
    const [low, high] = [10 ** (Math.min(a, b) / 100), 10 ** (Math.max(a, b) / 100)]
    const [bottom, top] = logEnds(low, high)
    assert.isTrue(0 < bottom && bottom < low && high < top)
    if (high / low < 1.2) return
    const values = logTicks(bottom, top)
    assert.isTrue(values.length >= 2 && values.length <= 11, values.join())
    for (const value of values) assert.isTrue(value >= bottom && value <= top)
    assert.strictEqual(new Set(values).size, values.length)
  })
})
