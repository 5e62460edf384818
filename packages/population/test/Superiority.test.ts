import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Schema } from "effect"
import type { InstructionId } from "@inspo/domain/Instruction"
import { InstructionValue, Population, Superiority } from "@inspo/population"
import { instruction } from "./Histories.ts"

const Mean = Schema.Literals([0, 0.2, 0.5, 0.8, 1])

/** Mean rewards of the groups of each step; an empty step was one without groups. */
const Steps = Schema.Array(Schema.Array(Mean).check(Schema.isMaxLength(3))).check(Schema.isMaxLength(5))
type Steps = ReadonlyArray<ReadonlyArray<number>>

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

const [first, second] = [instruction(0), instruction(1)]

/** The steps one after the other, as they are observed. */
const eValue = (better: Steps, worse: Steps) => {
  const { observe } = InstructionValue.recentSteps({ window: 5 })
  const groups = (id: InstructionId, means: ReadonlyArray<number> = []) =>
    means.map((mean) => ({ instructionId: id, rewards: [mean] as const }))
  let population = Population.make([first, second])
  for (let step = 1; step <= Math.max(better.length, worse.length); step++)
    population = observe(population, step, [
      ...groups(first.id, better[step - 1]),
      ...groups(second.id, worse[step - 1])
    ])
  const [one, other] = population.members
  return one === undefined || other === undefined ? NaN : Superiority.eValue(one, other)
}

const repeat = (steps: Steps, times: number): Steps => Arr.replicate(steps, times).flat()

/** The same from all steps at once, in the order of arithmetic that journals were written with. */
const ofRecord = (better: Steps, worse: Steps): number => {
  const bets = [1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2]
  const psi = (bet: number) => -Math.log1p(-bet) - bet
  const record = (steps: Steps) => {
    let groups = 1
    let total = 1 / 2
    return steps.map((means) => {
      const centre = total / groups
      const [own, squares] = [sum(means), sum(means.map((mean) => mean * mean))]
      groups += means.length
      total += own
      return { groups: means.length, own, spread: squares - 2 * centre * own + means.length * centre ** 2 }
    })
  }
  const exponents = bets.map(() => 0)
  Arr.zip(record(better), record(worse)).forEach(([x, y]) => {
    if (x.groups === 0 || y.groups === 0) return
    const [shareX, shareY] = [y.groups / (x.groups + y.groups), x.groups / (x.groups + y.groups)]
    const difference = shareX * x.own - shareY * y.own
    for (const [index, bet] of bets.entries())
      exponents[index] =
        (exponents[index] ?? NaN) + bet * difference - psi(bet * shareX) * x.spread - psi(bet * shareY) * y.spread
  })
  return sum(exponents.map(Math.exp)) / bets.length
}

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
    "equals the result of the whole record to the bit",
    [Steps, Steps, Schema.Literals([1, 7])],
    ([x, y, times]) => {
      const [better, worse] = [repeat(x, times), repeat(y, times)]
      assert.strictEqual(eValue(better, worse), ofRecord(better, worse))
    }
  )

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

  it.prop("supports at most one of two, and neither of equals", [Steps, Steps], ([left, right]) => {
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

  it.prop("is never negative and never NaN", [Steps, Steps, Schema.Literals([1, 300])], ([left, right, times]) => {
    assert.isAtLeast(eValue(repeat(left, times), repeat(right, times)), 0)
  })

  it("is large after a few steps of success against failure, and keeps growing", () => {
    const after = (steps: number) => eValue(Arr.replicate([1, 1], steps), Arr.replicate([0, 0], steps))
    assert.isAbove(after(20), 1e3)
    assert.isAbove(after(40), after(20) ** 1.5)
    assert.strictEqual(after(5000), Infinity)
  })

  it("needs no variance and no second group", () => {
    assert.isAbove(eValue(Arr.replicate([1], 60), Arr.replicate([0.2], 60)), 1e3)
  })
})
