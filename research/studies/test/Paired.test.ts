import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { judge, paired } from "../src/Paired.ts"

const Values = Schema.Array(Schema.Finite.check(Schema.isBetween({ minimum: -1, maximum: 1 }))).check(
  Schema.isMinLength(2),
  Schema.isMaxLength(20)
)

describe("paired", () => {
  it("compares the seeds of both sides", () => {
    const left = new Map([
      [1, 0.5],
      [2, 0.75],
      [3, 1]
    ])
    const right = new Map([
      [2, 0.5],
      [3, 0.5],
      [4, 0]
    ])
    assert.strictEqual(paired(left, right)?.n, 2)
    assert.strictEqual(paired(left, right)?.mean, 0.375)
    assert.isNull(paired(left, new Map()))
  })

  it.prop("is reversed with its sides", [Values, Values], ([a, b]) => {
    const left = new Map(a.map((value, seed) => [seed, value]))
    const right = new Map(b.map((value, seed) => [seed, value]))
    assert.closeTo(paired(left, right)?.mean ?? 0, -(paired(right, left)?.mean ?? 0), 1e-12)
  })
})

describe("judge", () => {
  const bySeed = (values: ReadonlyArray<number>) => new Map(values.map((value, seed) => [seed, value]))
  const zeros = (values: ReadonlyArray<number>) => bySeed(values.map(() => 0))

  it("has wider intervals the more claims are judged together", () => {
    const values = [0.1, 0.2, 0.3]
    const of = (claims: number) => judge(Array.from({ length: claims }, () => [bySeed(values), zeros(values)] as const))
    const low = (quantile: number) => 0.2 - (quantile * 0.1) / Math.sqrt(3)
    // t(0.975, 2) and t(0.995, 2)
    assert.closeTo(of(1)[0]?.interval?.[0] ?? 0, low(4.302653), 1e-6)
    assert.closeTo(of(5)[4]?.interval?.[0] ?? 0, low(9.924843), 1e-6)
  })

  it.each([
    [[0.3, 0.31, 0.32], "confirmed"],
    [[-0.3, -0.31, -0.32], "contradicted"],
    [[-0.1, 0.3, 0.32], "open"],
    [[0.3], "open"]
  ] as const)("of the differences %j is %s", (values, verdict) => {
    assert.strictEqual(judge([[bySeed(values), zeros(values)]])[0]?.verdict, verdict)
  })

  it("is null without pairs", () => {
    assert.deepStrictEqual(judge([[bySeed([1, 2]), new Map()]]), [null])
  })

  it.prop("of one claim is the paired interval", [Values], ([values]) => {
    const [found] = judge([[bySeed(values), zeros(values)]])
    assert.deepStrictEqual(found?.interval, paired(bySeed(values), zeros(values))?.ci95)
  })

  it.prop("is reversed with its sides", [Values, Values], ([a, b]) => {
    const claim = [bySeed(a), bySeed(b)] as const
    const [found] = judge([claim, claim])
    const [turned] = judge([
      [claim[1], claim[0]],
      [claim[1], claim[0]]
    ])
    const turnedVerdict = { confirmed: "contradicted", contradicted: "confirmed", open: "open" } as const
    assert.strictEqual(turned?.verdict, turnedVerdict[found?.verdict ?? "open"])
  })
})
