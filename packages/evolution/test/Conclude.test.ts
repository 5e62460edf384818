import { assert, describe, it } from "@effect/vitest"
import { RandomStream } from "@inspo/domain"
import { Conclude } from "@inspo/evolution"
import { Bounded } from "@inspo/statistics"
import { Array as Arr, Schema } from "effect"

const Difference = Schema.Literals([-1, -0.5, 0, 0.25, 1])
const Differences = Schema.Array(Difference).check(Schema.isMaxLength(40))

const exact = (differences: ReadonlyArray<number>): ReadonlyArray<Conclude.Pair> =>
  differences.map((one) => ({ least: one, most: one }))

const heldOut = (differences: ReadonlyArray<number>, margin?: number) =>
  Conclude.heldOut(exact(differences), { seed: 1, ...(margin === undefined ? {} : { margin }) })

describe("the test on held-out cases", () => {
  it.prop("says the reverse of the reversed differences", [Differences], ([differences]) => {
    const [one, other] = [heldOut(differences), heldOut(differences.map((difference) => -difference))]
    assert.strictEqual(one.verdict === "better", other.verdict === "worse")
    assert.closeTo(one.gain.mean, -other.gain.mean, 1e-12)
  })

  it.prop("says no more where a score is missing", [Differences, Differences], ([differences, missing]) => {
    const pairs = differences.map((one, place) => {
      const width = Math.abs(missing[place] ?? 0)
      return { least: Math.max(-1, one - width), most: Math.min(1, one + width) }
    })
    const [whole, partial] = [heldOut(differences).verdict, Conclude.heldOut(pairs, { seed: 1 }).verdict]
    if (partial === "better" || partial === "worse") assert.strictEqual(whole, partial)
  })

  it.prop("excludes a larger loss sooner than a smaller one", [Differences], ([differences]) => {
    const isSafe = (margin: number) => ["better", "no-worse"].includes(heldOut(differences, margin).verdict)
    assert.isTrue(!isSafe(0.1) || isSafe(0.3))
  })

  it("calls at most 5 % of all choices of signs better, and as many worse", () => {
    for (const sizes of [
      [1, 1, 1, 1, 1, 1],
      [1, 0.5, 0.5, 0.25, 1, 1, 0.5]
    ]) {
      const choices = sizes.reduce<ReadonlyArray<ReadonlyArray<number>>>(
        (known, size) =>
          known.flatMap((signed) => [
            [...signed, size],
            [...signed, -size]
          ]),
        [[]]
      )
      const verdicts = choices.map((differences) => heldOut(differences).verdict)
      for (const verdict of ["better", "worse"]) {
        const count = verdicts.filter((one) => one === verdict).length
        assert.isTrue(count > 0 && count <= 0.05 * choices.length, `${count} of ${choices.length} ${verdict}`)
      }
    }
  })

  it.prop(
    "has an interval that excludes 0 only with its verdict, whatever the seed",
    [Differences],
    ([differences]) => {
      const { gain, verdict } = heldOut(differences)
      assert.isTrue(gain.lower < 0 || (gain.lower === 0 && verdict !== "worse") || verdict === "better")
      assert.isTrue(gain.upper > 0 || (gain.upper === 0 && verdict !== "better") || verdict === "worse")
      if (differences.every((one) => Math.abs(one) !== 0.5 && one !== 0.25))
        assert.strictEqual(Conclude.heldOut(exact(differences), { seed: 2 }).verdict, verdict)
    }
  )

  it("decides by all signs where differences are of one size", () => {
    const verdict = (gains: number, losses: number) =>
      heldOut([...Arr.replicate(1, gains), ...Arr.replicate(-1, losses), ...Arr.replicate(0, 10)]).verdict
    assert.deepStrictEqual([verdict(13, 5), verdict(20, 10), verdict(14, 6)], ["better", "better", "undecided"])
  })

  it("shows what is so, and nothing without a case", () => {
    assert.strictEqual(heldOut(Arr.replicate(1, 6)).verdict, "better")
    assert.strictEqual(heldOut(Arr.replicate(-1, 6)).verdict, "worse")
    assert.strictEqual(heldOut(Arr.replicate(0, 60), 0.1).verdict, "no-worse")
    assert.strictEqual(heldOut(Arr.replicate(0, 60)).verdict, "undecided")
    assert.deepStrictEqual(heldOut([]), { verdict: "undecided", gain: { mean: 0, lower: -1, upper: 1 } })
  })
})

describe("claims at any time", () => {
  it("are shown where they are so, and not where they are not", () => {
    const shown = (difference: number) => {
      const evidence = Conclude.evidence(exact(Arr.replicate(difference, 400)), 0.05)
      return Conclude.claims.filter((claim) => evidence[claim] >= Math.log(20))
    }
    assert.deepStrictEqual(shown(0.08), ["better", "no-worse"])
    assert.deepStrictEqual(shown(0), ["no-worse", "no-gain"])
    assert.deepStrictEqual(shown(-0.02), ["no-worse", "worse", "no-gain"])
    assert.deepStrictEqual(shown(-0.08), ["worse", "worse-by-margin", "no-gain"])
  })
})

describe("bounds at any time", () => {
  it("hold at all looks together in at least 95 % of the sequences", () => {
    const luck = RandomStream.make(2, ["looks"])
    const missed = Arr.makeBy(60, () => {
      const pairs: Array<Conclude.Pair> = []
      return Arr.makeBy(80, () => {
        const one = (luck.next() < 0.6 ? 1 : 0) - (luck.next() < 0.4 ? 1 : 0)
        pairs.push({ least: one, most: one })
        const { lower, upper } = Conclude.sequence(pairs)
        return lower > 0.2 || upper < 0.2
      }).includes(true)
    }).filter((isMissed) => isMissed).length
    assert.isAtMost(missed / 60, 0.05)
  })

  it.prop(
    "narrow with the looks, and are those of the last one where looks exclude each other",
    [Differences],
    ([differences]) => {
      const pairs = exact(differences)
      const looks = differences.map((_, at) => at + 1)
      const last = Conclude.sequence(pairs, 0.1, Bounded.pairedBets)
      const found = Conclude.narrowed(pairs, looks, 0.1, Bounded.pairedBets)
      assert.isTrue(last.lower <= found.lower && found.lower <= found.upper && found.upper <= last.upper)
      assert.strictEqual(found.mean, last.mean)
      // A first look at the most that can be excludes what follows.
      const turned = [...Array<number>(60).fill(1), ...Array<number>(600).fill(-1)]
      assert.deepStrictEqual(
        Conclude.narrowed(exact(turned), [60], 0.1, Bounded.pairedBets),
        Conclude.sequence(exact(turned), 0.1, Bounded.pairedBets)
      )
    }
  )

  it("narrowed by all looks, still hold in at least 90 % of the sequences that end as soon as they know", () => {
    let [held, shorter] = [0, 0]
    for (let seed = 0; seed < 200; seed++) {
      const stream = RandomStream.make(seed, ["narrowed"])
      const differences = Array.from({ length: 160 }, () => Number(stream.next() < 0.6) - Number(stream.next() < 0.5))
      const looks = [20, 40, 60, 80, 100, 120, 140]
      const count = looks.find((one) => Conclude.evidence(exact(differences.slice(0, one)), 0.05).better > 3) ?? 160
      const pairs = exact(differences.slice(0, count))
      const last = Conclude.sequence(pairs, 0.1, Bounded.pairedBets)
      const found = Conclude.narrowed(
        pairs,
        looks.filter((one) => one < count),
        0.1,
        Bounded.pairedBets
      )
      if (found.lower <= 0.1 && 0.1 <= found.upper) held += 1
      if (found.upper - found.lower < last.upper - last.lower - 1e-9) shorter += 1
    }
    assert.isAtLeast(held, 180)
    assert.isAbove(shorter, 20)
  })

  it.prop("are wider where a score is missing", [Differences], ([differences]) => {
    const whole = Conclude.sequence(exact(differences))
    const partial = Conclude.sequence([...exact(differences), { least: -1, most: 1 }])
    assert.isTrue(partial.upper - partial.lower >= whole.upper - whole.lower - 1e-6)
  })
})
