import { assert, describe, it } from "@effect/vitest"
import { RandomStream } from "@inspo/domain"
import { Schema } from "effect"
import { differenceInterval, neededFor, pairedBets, upperBound } from "../src/Bounded.ts"

const Values = Schema.Array(Schema.Finite.check(Schema.isBetween({ minimum: -1, maximum: 1 }))).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(20)
)
const meanOf = (values: ReadonlyArray<number>) => values.reduce((sum, one) => sum + one, 0) / values.length

/** Logarithms of factorials. */
const factorials = [0]
for (let n = 1; n <= 100; n++) factorials.push((factorials[n - 1] ?? 0) + Math.log(n))
const log = (n: number) => factorials[n] ?? NaN
const power = (share: number, n: number) => (n === 0 ? 0 : n * Math.log(Math.max(0, share)))

describe("differenceInterval", () => {
  it.each([
    [1, 0.05],
    [2, 0.05],
    [3, 0.05],
    [5, 0.05],
    [10, 0.05],
    [20, 0.05],
    [20, 0.0125],
    [40, 0.05]
  ])("misses the mean of %i differences on each side with at most its risk of %d", (n, risk) => {
    const samples = Array.from({ length: n + 1 }, (_, better) =>
      Array.from({ length: n + 1 - better }, (_, worse) => {
        const same = n - better - worse
        const signs = [better, worse, same].flatMap((times, sign) => Array<number>(times).fill([1, -1, 0][sign] ?? 0))
        return { better, worse, same, interval: differenceInterval(signs, risk) }
      })
    ).flat()
    const shares = [0, 0.01, 0.02, 0.05, 0.1, 0.16, 0.3, 0.5, 0.66, 0.9, 0.98, 1]
    let largest = 0
    for (const up of shares)
      for (const down of shares.filter((share) => up + share <= 1)) {
        let [below, above] = [0, 0]
        for (const { better, interval, same, worse } of samples) {
          const [isBelow, isAbove] = [interval[0] > up - down + 1e-6, interval[1] < up - down - 1e-6]
          if (!isBelow && !isAbove) continue
          const chance = Math.exp(
            log(n) -
              log(better) -
              log(worse) -
              log(same) +
              power(up, better) +
              power(down, worse) +
              power(1 - up - down, same)
          )
          if (isBelow) below += chance
          else above += chance
        }
        // What lies between the shares that are tried adds a thousandth of the risk.
        assert.isAtMost(Math.max(below, above), 1.001 * risk, `${up} better, ${down} worse`)
        largest = Math.max(largest, below, above)
      }
    // It is not wider than it has to be.
    if (n > 4) assert.isAtLeast(largest, 0.8 * risk)
  })

  const half = (next: () => number) => Math.round(next()) - Math.round(next())
  const graded: ReadonlyArray<readonly [string, number, (next: () => number) => number]> = [
    ["small gains and rare large losses", -0.05, (next) => (next() < 0.05 ? -1 : next() < 0.05 ? -0.95 : 0.05)],
    ["many losses and some large gains", 0.05, (next) => (next() < 0.2 ? 0.85 : -0.15)],
    ["the means of two answers", 0, (next) => (half(next) + half(next)) / 2]
  ]

  it.each(graded)("misses the mean of %s, a hundred times, about as seldom", (name, mean, draw) => {
    const { next } = RandomStream.make(3, [name])
    const all = Array.from({ length: 3000 }, () => differenceInterval(Array.from({ length: 100 }, () => draw(next))))
    for (const missed of [all.filter(([low]) => low > mean), all.filter(([, high]) => high < mean)])
      assert.isAtMost(missed.length / all.length, 0.06)
  })

  it.each([20, 30, 40, 60])("rarely misses total failures among %i graded differences of which few had one", (n) => {
    const stream = RandomStream.make(2, ["failures", n])
    for (const share of [0.03, 0.05, 0.08, 0.12]) {
      let missed = 0
      for (let sample = 0; sample < 1000; sample++) {
        const differences = Array.from({ length: n }, () => (stream.next() < share ? -1 : 0.02 * (stream.next() - 0.5)))
        if (differenceInterval(differences)[0] > -share) missed++
      }
      assert.isAtMost(missed / 1000, 0.1)
    }
  })

  it.prop("is turned around with its differences, and within [-1, 1]", [Values], ([values]) => {
    const [low, high] = differenceInterval(values)
    const [other, one] = differenceInterval(values.map((value) => -value))
    assert.closeTo(low, -one, 1e-9)
    assert.closeTo(high, -other, 1e-9)
    assert.isTrue(low >= -1 && low < high && high <= 1)
  })
})

describe("upperBound", () => {
  it.each([
    [0.17, 0.02],
    [0.02, 0.02],
    [0.1, 0],
    [0.98, 0],
    [0.02, 0.9],
    [0.4, 0.3]
  ])("is ever below the mean in at most one of twenty sequences: %f better, %f worse", { tags: "deep" }, (up, down) => {
    const stream = RandomStream.make(1, ["bounds", up, down])
    let wrong = 0
    for (let sequence = 0; sequence < 200; sequence++) {
      const values: Array<number> = []
      for (let isWrong = false; values.length < 60 && !isWrong; wrong += Number(isWrong)) {
        const drawn = stream.next()
        values.push(drawn < up ? 1 : drawn < up + down ? -1 : 0)
        // It falls by such a number alone.
        isWrong = drawn >= up && upperBound(values, 0.05) < up - down - 1e-9
      }
    }
    // 5 % and three standard deviations.
    assert.isAtMost(wrong / 200, 0.096)
  })

  it.prop("is above the mean, and closer to it after the same numbers again", [Values], ([values]) => {
    const bound = upperBound(values, 0.05)
    assert.isAtLeast(bound, meanOf(values))
    assert.isAtMost(upperBound([...values, ...values], 0.05), bound + 1e-9)
    assert.isAtMost(bound, upperBound(values, 0.01) + 1e-9)
  })

  it("bets no more money than there is", () => {
    assert.closeTo(
      pairedBets.reduce((sum, { share }) => sum + share, 0),
      1,
      1e-12
    )
  })

  it("knows nothing without numbers, and needs about fifty equal ones for ten points", () => {
    assert.strictEqual(upperBound([], 0.05), 1)
    const needed = neededFor([0, 0, 0], 0.1, 0.05 / 16) ?? assert.fail("none")
    assert.isTrue(needed > 45 && needed < 75, String(needed))
    assert.isBelow(upperBound(Array<number>(needed).fill(0), 0.05 / 16), 0.1)
    assert.isNull(neededFor([], 0.1, 0.05))
    assert.isNull(neededFor([1, -1], 0.0001, 0.05))
  })
})
