import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { effectiveGroups, kish } from "../../src/internal/EffectiveGroups.ts"

const Positive = Schema.Finite.check(Schema.isBetween({ minimum: 0.01, maximum: 100 }))
const Weighted = Schema.Struct({
  weight: Positive,
  count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 }))
})
const Window = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 500 }))).check(
  Schema.isMinLength(1)
)

const window = (groups: ReadonlyArray<number>) =>
  groups.map((own, step) => ({ step, mean: 0.5, trajectories: 5 * own, groups: own }))
const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

describe("kish", () => {
  it.prop(
    "is between 1 and the number of observations, whatever the scale",
    [Schema.NonEmptyArray(Weighted)],
    ([weights]) => {
      const effective = kish(weights)
      const total = sum(weights.map(({ count }) => count))
      assert.isAtMost(effective, total * (1 + 1e-9))
      assert.isAtLeast(effective, 1 - 1e-9)
      const scaled = kish(weights.map(({ count, weight }) => ({ count, weight: 7 * weight })))
      assert.approximately(scaled / effective, 1, 1e-9)
    }
  )

  it.prop("counts equal weights, and an observation once", [Weighted], ([{ count, weight }]) => {
    assert.approximately(kish([{ count, weight }]), count, 1e-9)
    assert.approximately(kish(Array.from({ length: count }, () => ({ count: 1, weight }))), count, 1e-9)
  })

  it("is 0 without weight", () => {
    assert.strictEqual(kish([]), 0)
    assert.strictEqual(kish([{ count: 3, weight: 0 }]), 0)
  })
})

describe("effectiveGroups", () => {
  it.prop("is that of a mean of step means: its variance is the largest variance over it", [Window], ([groups]) => {
    const k = groups.length
    const variance = sum(groups.map((own) => 1 / own)) / k ** 2
    const effective = effectiveGroups(window(groups), () => 1)
    assert.approximately(effective * variance, 1, 1e-9)
    assert.isAtMost(effective, sum(groups) * (1 + 1e-9))
  })

  it.prop(
    "is at most the number of groups that would have been drawn and are there",
    [Window, Positive],
    ([groups, ratio]) => {
      const effective = effectiveGroups(window(groups), () => ratio)
      assert.isAtMost(effective, sum(groups) * Math.min(1, ratio) * (1 + 1e-9))
    }
  )

  it.prop("is that number when every step has the same", [Window, Positive], ([groups, ratio]) => {
    const same = groups.map(() => groups[0] ?? 1)
    const effective = effectiveGroups(window(same), () => ratio)
    assert.approximately(effective / (sum(same) * Math.min(1, ratio)), 1, 1e-9)
  })

  it("is hardly less for a step that would have been left out", () => {
    const effective = effectiveGroups(window([100, 100]), (step) => (step === 0 ? 1 : 1e-5))
    assert.approximately(effective, 100, 10)
  })

  it("is 0 for what was never drawn", () => {
    assert.strictEqual(
      effectiveGroups([], () => 1),
      0
    )
    assert.strictEqual(
      effectiveGroups(window([30]), () => 0),
      0
    )
  })
})
