import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Schema } from "effect"
import { Population } from "@inspo/population"
import { Superiority } from "@inspo/successive-halving"

const Mean = Schema.Literals([0, 0.2, 0.5, 0.8, 1])

/** Mean rewards of the groups of each step; an empty step was one without groups. */
const Steps = Schema.Array(Schema.Array(Mean).check(Schema.isMaxLength(3))).check(Schema.isMaxLength(5))
type Steps = ReadonlyArray<ReadonlyArray<number>>

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

const lifetime = (steps: Steps): Population.Lifetime => ({
  ...Population.unobserved,
  steps: steps.flatMap((means, index) =>
    means.length === 0
      ? []
      : [
          {
            step: index + 1,
            groups: means.length,
            groupMeanSum: sum(means),
            groupMeanSquareSum: sum(means.map((mean) => mean * mean))
          }
        ]
  )
})

const eValue = (better: Steps, worse: Steps) => Superiority.eValue(lifetime(better), lifetime(worse))

const repeat = (steps: Steps, times: number): Steps => Arr.replicate(steps, times).flat()

describe("eValue", () => {
  it.prop("is the mean over bets of the product over groups", [Steps, Steps], ([better, worse]) => {
    const bets = [1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2]
    const centre = (steps: Steps, before: number) => {
      const earlier = steps.slice(0, before).flat()
      return (0.5 + sum(earlier)) / (1 + earlier.length)
    }
    const psi = (bet: number) => -Math.log(1 - bet) - bet
    const products = bets.map((bet) => {
      let product = 1
      for (const [index, xs] of better.entries()) {
        const ys = worse[index] ?? []
        if (xs.length === 0 || ys.length === 0) continue
        const up = (bet * ys.length) / (xs.length + ys.length)
        const down = (bet * xs.length) / (xs.length + ys.length)
        for (const x of xs) product *= Math.exp(up * x - psi(up) * (x - centre(better, index)) ** 2)
        for (const y of ys) product *= Math.exp(-down * y - psi(down) * (y - centre(worse, index)) ** 2)
      }
      return product
    })
    assert.approximately(eValue(better, worse), sum(products) / bets.length, 1e-9)
  })

  it.prop(
    "expects no more than 1 while the one is never better, even as the policy moves",
    [
      Schema.Array(Schema.Tuple([Schema.Finite, Schema.Finite])).check(Schema.isMinLength(1), Schema.isMaxLength(3)),
      Schema.Literals([1, 2]),
      Schema.Literals([1, 2])
    ],
    ([draws, groups, rivalGroups]) => {
      const unit = (value: number) => Math.abs(Math.sin(value))
      const chances = draws.map(([a, b]) => [Math.min(unit(a), unit(b)), Math.max(unit(a), unit(b))] as const)
      /** All outcomes of so many groups, with their probabilities. */
      const outcomes = (count: number, chance: number) =>
        Arr.makeBy(2 ** count, (bits) => {
          const means = Arr.makeBy(count, (group) => (bits >> group) & 1)
          return {
            means,
            probability: means.reduce((product, mean) => product * (mean === 1 ? chance : 1 - chance), 1)
          }
        })
      const expected = (step: number, better: Steps, worse: Steps, probability: number): number => {
        const chance = chances[step]
        if (chance === undefined) return probability * eValue(better, worse)
        return sum(
          outcomes(groups, chance[0]).flatMap((x) =>
            outcomes(rivalGroups, chance[1]).map((y) =>
              expected(step + 1, [...better, x.means], [...worse, y.means], probability * x.probability * y.probability)
            )
          )
        )
      }
      assert.isAtMost(expected(0, [], [], 1), 1 + 1e-9)
    }
  )

  it.prop("speaks for one of two at most, and for neither of equals", [Steps, Steps], ([left, right]) => {
    assert.isAtMost(Math.min(eValue(left, right), eValue(right, left)), 1)
    assert.isAtMost(eValue(left, left), 1)
  })

  it.prop("is 1 without a shared step", [Steps], ([steps]) => {
    assert.strictEqual(eValue(steps, []), 1)
    assert.strictEqual(eValue([...steps.map(() => []), [1]], steps), 1)
  })

  it.prop(
    "grows with every reward of the better in the latest step, and shrinks with those of the worse",
    [Steps, Steps, Mean, Mean, Schema.Literals([1, 30])],
    ([better, worse, low, high, times]) => {
      if (low >= high) return
      const length = times * Math.max(better.length, worse.length)
      const pad = (steps: Steps) => Arr.makeBy(length, (index) => repeat(steps, times)[index] ?? [])
      const at = (x: number, y: number) => eValue([...pad(better), [x]], [...pad(worse), [y, 0.5]])
      assert.isAtLeast(at(high, low), at(low, low))
      assert.isAtMost(at(low, high), at(low, low))
    }
  )

  it.prop("is never negative and never NaN", [Steps, Steps, Schema.Literals([1, 3000])], ([left, right, times]) => {
    assert.isAtLeast(eValue(repeat(left, times), repeat(right, times)), 0)
  })

  it("is large after a few steps of success against failure, and ever larger", () => {
    const after = (steps: number) => eValue(Arr.replicate([1, 1], steps), Arr.replicate([0, 0], steps))
    assert.isAbove(after(20), 1e3)
    assert.isAbove(after(40), after(20) ** 1.5)
    assert.strictEqual(after(5000), Infinity)
  })

  it("needs no variance and no second group", () => {
    assert.isAbove(eValue(Arr.replicate([1], 60), Arr.replicate([0.2], 60)), 1e3)
  })
})
