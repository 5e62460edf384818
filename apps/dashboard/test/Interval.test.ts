import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { meanDifference } from "../src/Interval.ts"

const Difference = Schema.Literals([-1, -0.5, 0, 0.5, 1])
const Differences = Schema.TupleWithRest(Schema.Tuple([Difference, Difference]), [Difference])

describe("meanDifference", () => {
  it("needs two differences", () => {
    assert.isNull(meanDifference([]))
    assert.isNull(meanDifference([0.5]))
  })

  it.prop("lies around the mean, turns with the sign, and narrows with more of the same", [Differences], ([values]) => {
    const found = meanDifference(values)
    const turned = meanDifference(values.map((value) => -value))
    const more = meanDifference([...values, ...values, ...values, ...values])
    if (found === null || turned === null || more === null) throw new Error("there are at least two differences")
    assert.closeTo(found.mean, values.reduce<number>((sum, value) => sum + value, 0) / values.length, 1e-12)
    assert.closeTo((found.ci95[0] + found.ci95[1]) / 2, found.mean, 1e-12)
    assert.closeTo(turned.ci95[0], -found.ci95[1], 1e-12)
    assert.isAtMost(more.ci95[1] - more.ci95[0], found.ci95[1] - found.ci95[0] + 1e-12)
  })

  it("is the textbook interval", () => {
    // Mean 0.25, standard error √(0.25 / 4) = 0.25.
    const found = meanDifference([1, 0, 0, 0])
    assert.closeTo(found?.ci95[0] ?? Number.NaN, 0.25 - 1.959963984540054 * 0.25, 1e-12)
  })
})
