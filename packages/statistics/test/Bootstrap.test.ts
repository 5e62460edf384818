import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { bootstrap } from "../src/Bootstrap.ts"

const Values = Schema.Array(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(20)
)
const Strata = Schema.Array(Values).check(Schema.isMinLength(1), Schema.isMaxLength(4))
const Seed = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e6 }))

const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length

describe("bootstrap", () => {
  it.prop("depends only on values and seed, and is within the values", [Strata, Seed], ([strata, seed]) => {
    const options = { resamples: 200, seed }
    const found = bootstrap(strata, options)
    assert.deepStrictEqual(bootstrap(strata, options), found)
    const all = strata.flat()
    for (const interval of [...found.strata, found.overall, found.macro]) {
      if (interval === null) continue
      assert.isTrue(Math.min(...all) - 1e-12 <= interval[0] && interval[0] <= interval[1])
      assert.isTrue(interval[1] <= Math.max(...all) + 1e-12)
    }
  })

  it.prop("moves and scales with the values", [Strata, Seed], ([strata, seed]) => {
    const options = { resamples: 200, seed }
    const found = bootstrap(strata, options)
    const moved = bootstrap(
      strata.map((values) => values.map((value) => 3 * value - 1)),
      options
    )
    for (const part of ["overall", "macro"] as const) {
      if (found[part] === null || moved[part] === null) continue
      assert.closeTo(moved[part][0], 3 * found[part][0] - 1, 1e-9)
      assert.closeTo(moved[part][1], 3 * found[part][1] - 1, 1e-9)
    }
  })

  it.prop(
    "is the same for one stratum, overall, as the mean of strata, and with empty strata",
    [Values, Seed],
    (inputs) => {
      const [values, seed] = inputs
      const options = { resamples: 200, seed }
      const { macro, overall, strata } = bootstrap([values], options)
      const beside = bootstrap([[], values], options)
      assert.deepStrictEqual(beside, { macro, overall, strata: [null, strata[0] ?? null] })
      if (strata[0] === null || strata[0] === undefined) return
      assert.closeTo(overall?.[0] ?? 9, strata[0][0], 1e-12)
      assert.closeTo(macro?.[1] ?? 9, strata[0][1], 1e-12)
    }
  )

  it.prop("weights strata by size overall, and equally in the mean of strata", [Values, Seed], (inputs) => {
    const [values, seed] = inputs
    const certain = Array.from({ length: 3 * values.length }, () => 0.5)
    const { macro, overall, strata } = bootstrap([values, certain], { resamples: 200, seed })
    const own = strata[0]
    if (own === null || own === undefined) return
    for (const bound of [0, 1] as const) {
      assert.closeTo(overall?.[bound] ?? 9, own[bound] / 4 + 0.5 * 0.75, 1e-12)
      assert.closeTo(macro?.[bound] ?? 9, own[bound] / 2 + 0.25, 1e-12)
    }
  })

  it.prop("has no interval if all values are equal", [Schema.Natural, Seed], ([size, seed]) => {
    const values = Array.from({ length: (size % 9) + 1 }, () => 0.3)
    assert.deepStrictEqual(bootstrap([values], { resamples: 100, seed }), {
      strata: [null],
      overall: null,
      macro: null
    })
  })

  it("covers the true mean about 95 times in a hundred", () => {
    // Shares of 0.3 in samples of 60: the interval should miss in about 6 % of 300 trials, 18 ± 8 at two deviations.
    let missed = 0
    for (let trial = 0; trial < 300; trial++) {
      const values = Array.from({ length: 60 }, (_, index) => (uniform(trial, index) < 0.3 ? 1 : 0))
      const interval = bootstrap([values], { resamples: 200, seed: trial }).overall
      if (interval === null || interval[0] > 0.3 || interval[1] < 0.3) missed++
    }
    assert.isTrue(missed >= 8 && missed <= 32, `${missed} of 300`)
  })

  it("is as wide as the normal approximation for many values", () => {
    const values = Array.from({ length: 1000 }, (_, index) => (index % 4 === 0 ? 1 : 0))
    const [low, high] = bootstrap([values], { resamples: 1000, seed: 1 }).overall ?? [0, 1]
    const half = 1.96 * Math.sqrt((0.25 * 0.75) / values.length)
    assert.closeTo(low, mean(values) - half, half / 5)
    assert.closeTo(high, mean(values) + half, half / 5)
  })
})

/** A number in [0, 1) that looks random. */
const uniform = (a: number, b: number): number => {
  const x = Math.sin(a * 12.9898 + b * 78.233) * 43758.5453
  return x - Math.floor(x)
}
