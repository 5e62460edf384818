import { assert, describe, it } from "@effect/vitest"
import { RandomStream } from "@inspo/domain"
import * as fc from "fast-check"
import { type Spread, spread } from "../src/Spread.ts"

const options = { permutations: 199, seed: 1 }

const score = fc.integer({ min: 0, max: 8 }).map((eighths) => eighths / 8)
const table = fc
  .tuple(fc.integer({ min: 2, max: 5 }), fc.integer({ min: 2, max: 12 }))
  .chain(([treatments, n]) =>
    fc.array(fc.array(score, { minLength: treatments, maxLength: treatments }), { minLength: n, maxLength: n })
  )

const assertAlike = (left: Spread, right: Spread) => {
  for (const key of ["between", "noise"] as const) assert.closeTo(left[key], right[key], 1e-9, key)
  for (const at of [0, 1] as const) assert.closeTo(left.ci95?.[at] ?? -1, right.ci95?.[at] ?? -1, 1e-9)
}

/** Tables of right and wrong answers: how hard a question is lies between 0.2 and 0.8, and treatment t adds `effects[t]`. */
const drawn = (tables: number, n: number, effects: (draw: () => number) => ReadonlyArray<number>) => {
  const { next } = RandomStream.make(7, ["test"])
  return Array.from({ length: tables }, () => {
    const added = effects(next)
    return Array.from({ length: n }, () => {
      const easy = 0.2 + 0.6 * next()
      return added.map((effect) => (next() < easy + effect ? 1 : 0))
    })
  })
}

const share = (values: ReadonlyArray<boolean>) => values.filter(Boolean).length / values.length

describe("spread", () => {
  it("matches a table calculated by hand", () => {
    // Squares: 90 in all, 38 of the columns and of the rows, so 14 of the residuals, with four degrees of freedom.
    const found = spread(
      [
        [1, 2, 3],
        [2, 4, 6],
        [3, 6, 12]
      ],
      options
    )
    assert.deepStrictEqual(found.means, [2, 4, 7])
    assert.closeTo(found.noise, 14 / 4 / 3, 1e-9)
    assert.closeTo(found.between, (38 / 2 - 14 / 4) / 3, 1e-9)
    // F(0.975; 2, 4) = 10.649, F(0.025; 2, 4) = 0.025480
    assert.closeTo(found.ci95?.[0] ?? -1, 0, 1e-9)
    assert.closeTo(found.ci95?.[1] ?? -1, (19 / 0.02548 - 3.5) / 3, 0.5)
  })

  it("does not depend on how hard a question is, nor on the order of questions and treatments", () => {
    fc.assert(
      fc.property(table, fc.array(score, { minLength: 12, maxLength: 12 }), (scores, levels) => {
        const base = spread(scores, options)
        const moved = spread(
          scores.map((row, at) => row.map((value) => value + (levels[at] ?? 0))),
          options
        )
        assertAlike(moved, base)
        assert.strictEqual(moved.p, base.p)
        assertAlike(spread(scores.toReversed(), options), base)
        assertAlike(
          spread(
            scores.map((row) => row.toReversed()),
            options
          ),
          base
        )
      })
    )
  })

  it("finds no variance between equal treatments", () => {
    fc.assert(
      fc.property(fc.array(score, { minLength: 2, maxLength: 12 }), (levels) => {
        const found = spread(
          levels.map((level) => [level, level, level]),
          options
        )
        assert.closeTo(found.between, 0, 1e-12)
        assert.isNull(found.ci95)
        assert.strictEqual(found.p, 1)
      })
    )
  })

  it("has the stated rate of false positives (statistical)", () => {
    const found = drawn(300, 20, () => [0, 0, 0, 0, 0]).map((scores) => spread(scores, options))
    assert.isAtMost(share(found.map(({ p }) => p <= 0.05)), 0.05 + 3 * Math.sqrt((0.05 * 0.95) / 300))
    assert.isAtLeast(share(found.map(({ p }) => p <= 0.5)), 0.5 - 3 * Math.sqrt(0.25 / 300) - 0.05)
    assert.closeTo(found.reduce((total, { between }) => total + between, 0) / 300, 0, 1.5e-3)
  })

  it("estimates the variance between treatments without bias, with an interval that covers it (statistical)", () => {
    const variance = 0.2 ** 2 / 3 // of the uniform distribution on [-0.2, 0.2]
    const found = drawn(400, 100, (draw) => Array.from({ length: 5 }, () => 0.4 * draw() - 0.2)).map((scores) =>
      spread(scores, { permutations: 1, seed: 1 })
    )
    assert.closeTo(found.reduce((total, { between }) => total + between, 0) / 400, variance, 0.1 * variance)
    assert.isAtLeast(share(found.map(({ ci95 }) => ci95 !== null && ci95[0] <= variance && variance <= ci95[1])), 0.93)
  })

  it("fails for an invalid table", () => {
    assert.throws(() => spread([[1, 0]], options), /expected at least two/u)
    assert.throws(() => spread([[1, 0], [1]], options), /as many in every row/u)
  })
})
