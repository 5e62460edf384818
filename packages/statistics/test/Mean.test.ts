import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { estimate, signTest } from "../src/Exact.ts"

const Values = Schema.Array(Schema.Finite.check(Schema.isBetween({ minimum: -1, maximum: 1 }))).check(
  Schema.isMinLength(2),
  Schema.isMaxLength(20)
)

describe("estimate", () => {
  it("matches the t-interval of the tables", () => {
    const found = estimate([0.1, 0.2, 0.3])
    assert.closeTo(found?.mean ?? 0, 0.2, 1e-12)
    // t(0.975, 2) = 4.302653, standard deviation 0.1
    assert.closeTo(found?.ci95?.[0] ?? 0, 0.2 - (4.302653 * 0.1) / Math.sqrt(3), 1e-6)
    // t(0.975, 9) = 2.262157, standard deviation 3.027650
    const ten = estimate([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    assert.closeTo(ten?.ci95?.[1] ?? 0, 5.5 + (2.262157 * 3.02765) / Math.sqrt(10), 1e-5)
  })

  it("has no interval for one value, and is null without values", () => {
    assert.deepStrictEqual(estimate([0.5]), { n: 1, mean: 0.5, ci95: null })
    assert.isNull(estimate([]))
  })

  it.prop("moves with a shift and does not depend on the order", [Values], ([values]) => {
    const base = estimate(values)
    const shifted = estimate(values.map((value) => value + 1))
    const reversed = estimate(values.toReversed())
    assert.closeTo(shifted?.ci95?.[0] ?? 0, (base?.ci95?.[0] ?? 0) + 1, 1e-9)
    assert.closeTo(reversed?.ci95?.[1] ?? 0, base?.ci95?.[1] ?? 0, 1e-9)
    assert.isTrue((base?.ci95?.[0] ?? 0) <= (base?.ci95?.[1] ?? 0))
  })
})

describe("signTest", () => {
  it.each([
    [0, 0, 1],
    [5, 5, 1],
    [0, 5, 0.0625],
    [2, 8, 0.109375],
    [12, 1, 0.00341796875],
    // 2 · P(X ≤ 40) for X of Bin(100, 1/2), from the tables.
    [60, 40, 0.0568879]
  ])("of %d against %d is known", (better, worse, p) => {
    assert.closeTo(signTest(better, worse), p, 1e-6)
    assert.closeTo(signTest(worse, better), p, 1e-6)
  })
})
