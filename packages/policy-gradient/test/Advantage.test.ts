import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { advantages } from "../src/Advantage.ts"

const Hundredths = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 }))
// A grid of hundredths keeps the spread of unequal rewards far above the epsilon of Eq. 3.
const rewards = Arbitrary.map(Arbitrary.array(Arbitrary.schema(Hundredths), { minLength: 1, maxLength: 8 }), (values) =>
  values.map((value) => value / 100)
)
const Kind = Schema.Literals(["standardised", "centred"])

const close = (actual: ReadonlyArray<number>, expected: ReadonlyArray<number>, tolerance: number) => {
  assert.strictEqual(actual.length, expected.length)
  actual.forEach((value, i) => assert.closeTo(value, expected[i] ?? Number.NaN, tolerance))
}

describe("Advantage", () => {
  it("follows Eq. 3 with n - 1 in the denominator", () => {
    const deviation = Math.sqrt(0.8 / 4)
    close(
      advantages([1, 0, 0, 0, 0], "standardised"),
      [0.8, -0.2, -0.2, -0.2, -0.2].map((value) => value / (deviation + 1e-6)),
      1e-12
    )
  })

  it.prop("sums to 0", [rewards, Kind], ([rewards, kind]) => {
    const sum = advantages(rewards, kind).reduce((total, value) => total + value, 0)
    assert.closeTo(sum, 0, 1e-9)
  })

  it.prop("reward is the rewards themselves", [rewards], ([rewards]) => {
    assert.deepStrictEqual(advantages(rewards, "reward"), rewards)
  })

  it.prop("is exactly 0 for equal rewards and for a group of one", [Schema.Finite, Kind], ([reward, kind]) => {
    for (const size of [1, 2, 3, 5, 7]) {
      const group = Array.from({ length: size }, () => reward)
      assert.deepStrictEqual(
        advantages(group, kind),
        group.map(() => 0)
      )
    }
  })

  it.prop(
    "standardised advantages ignore shift and scale",
    [rewards, Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 }))],
    ([rewards, scale]) => {
      const moved = rewards.map((reward) => reward * scale + 3)
      close(advantages(moved, "standardised"), advantages(rewards, "standardised"), 2e-3)
    }
  )

  it.prop("standardised advantages have unit variance", [rewards], ([rewards]) => {
    const values = advantages(rewards, "standardised")
    const variance = values.reduce((sum, value) => sum + value * value, 0) / Math.max(1, values.length - 1)
    assert.closeTo(variance, new Set(rewards).size === 1 ? 0 : 1, 2e-3)
  })

  it.prop("permuting the rewards permutes the advantages", [rewards, Kind, Schema.Natural], ([rewards, kind, by]) => {
    const rotate = <A>(values: ReadonlyArray<A>) => {
      const at = by % values.length
      return [...values.slice(at), ...values.slice(0, at)]
    }
    close(advantages(rotate(rewards), kind), rotate(advantages(rewards, kind)), 1e-9)
  })

  it.prop("keeps the order of the rewards", [rewards, Kind], ([rewards, kind]) => {
    const values = advantages(rewards, kind)
    rewards.forEach((left, i) =>
      rewards.forEach((right, j) => {
        if (left < right) assert.isBelow(values[i] ?? Number.NaN, values[j] ?? Number.NaN)
      })
    )
  })
})
