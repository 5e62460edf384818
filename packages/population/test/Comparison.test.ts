import { assert, describe, it } from "@effect/vitest"
import { Instruction, RandomStream } from "@inspo/domain"
import { Comparison, Difference, Population } from "@inspo/population"
import { Schema } from "effect"
import { instruction } from "./Histories.ts"
import * as Direct from "./support/DirectModel.ts"

const size = 4
const id = (index: number) => Instruction.InstructionId.make(`i${index}`)
const instructions: ReadonlyArray<Instruction.Instruction> = Array.from({ length: size }, (_, index) =>
  instruction(index)
)
const averaging: Population.Averaging = { window: 3, average: "observed", span: "steps" }

/** The mean reward of so many samples of each member; null for a member that is not asked. */
const Question = Schema.Struct({
  samples: Schema.Literals([1, 2, 4]),
  wins: Schema.Array(Schema.NullOr(Schema.Literals([0.25, 0.4, 0.5, 0.75]))).check(Schema.isBetweenLength(size, size))
})
type Question = typeof Question.Type
const Units = Schema.Array(Schema.Array(Question).check(Schema.isMaxLength(4))).check(Schema.isBetweenLength(1, 6))
type Units = typeof Units.Type

/** Samples on a question, with a shift that all have in common. */
const toGroups = (unit: ReadonlyArray<Question>, step: number, shift: (place: number) => number = () => 0) =>
  unit.flatMap(({ samples, wins }, place) =>
    wins.flatMap((win, member): ReadonlyArray<Population.Observed> =>
      win === null
        ? []
        : [
            {
              instructionId: id(member),
              question: `${step}.${place}`,
              rewards: Array.from({ length: samples }, () => win + shift(place))
            }
          ]
    )
  )

const observeAll = (
  units: Units,
  groupsOf: (unit: ReadonlyArray<Question>, step: number) => ReadonlyArray<Population.Observed> = toGroups
): Population.Contents =>
  units.reduce(
    (population, unit, index) => Population.observe(averaging, population, index + 1, groupsOf(unit, index + 1)),
    Population.begin(instructions)
  )

/** The rows of the full model: questions that several members were asked. */
const rowsOf = (units: Units): ReadonlyArray<Direct.Row> =>
  units.flatMap((unit, step) =>
    unit.flatMap(({ samples, wins }, place) =>
      wins.filter((win) => win !== null).length < 2
        ? []
        : wins.flatMap((win, member) =>
            win === null ? [] : [{ member, block: `${step}.${place}`, value: win, weight: 1 / (0.1 + 1 / samples) }]
          )
    )
  )

/** Without groups that are alone on their question, which are compared across questions. */
const onlyShared = (units: Units): Units =>
  units.map((unit) => unit.filter(({ wins }) => wins.filter((win) => win !== null).length > 1))

const close = (found: unknown, expected: unknown, tolerance = 1e-9): void => {
  if (typeof found === "number" && typeof expected === "number")
    return assert.approximately(found, expected, tolerance * Math.max(1, Math.abs(expected)))
  if (Array.isArray(found) && Array.isArray(expected)) {
    assert.strictEqual(found.length, expected.length)
    for (const [index, one] of found.entries()) close(one, expected[index], tolerance)
    return
  }
  assert.deepStrictEqual(found, expected)
}

const evidence = ({ exponents, freedom, precision, squares, weighted }: Comparison.Comparison) => [
  precision,
  weighted,
  squares,
  freedom,
  exponents
]

const differences = ({ means }: Pick<Comparison.Posterior, "means">) =>
  means.map((one) => means.map((other) => one - other))

describe("evidence", () => {
  it.prop("does not depend on the order of groups on shared questions", [Units], ([units]) => {
    const shared = onlyShared(units)
    const reversed = observeAll(shared, (unit, step) => toGroups(unit, step).toReversed())
    close(evidence(reversed.comparison), evidence(observeAll(shared).comparison))
  })

  it.prop(
    "does not change when all rewards of a question rise or fall together",
    [Units, Schema.Literals([0.05, 0.25])],
    ([units, shift]) => {
      // Every question comes twice, one up and one down, so that the mean of all rewards stays.
      const twice = onlyShared(units).map((unit) => [...unit, ...unit])
      const drifting = observeAll(twice, (unit, step) =>
        toGroups(unit, step, (place) => (place < unit.length / 2 ? shift : -shift))
      )
      const steady = observeAll(twice)
      close(evidence(drifting.comparison), evidence(steady.comparison))
      assert.deepStrictEqual(drifting.comparison.chances, steady.comparison.chances)
    }
  )

  it.prop(
    "contains what every missing reward could have been",
    [Units, Schema.Literals([0, 0.5, 1])],
    ([units, truth]) => {
      const unit = onlyShared(units).flat()
      const groups = toGroups(unit, 1)
      const open = groups.map((group, index) => (index % 3 === 0 ? { ...group, missing: 1 } : group))
      const known = groups.map((group, index) =>
        index % 3 === 0 ? { ...group, rewards: [...group.rewards, truth] } : group
      )
      const [before, after] = [open, known].map(
        (some) => Population.observe(averaging, Population.begin(instructions), 1, some).comparison
      )
      for (const [worse, rivals] of (before?.exponents ?? []).entries())
        for (const [better, own] of rivals.entries())
          for (const [bet, exponent] of own.entries())
            assert.isAtMost(exponent, (after?.exponents[worse]?.[better]?.[bet] ?? NaN) + 1e-9)
    }
  )

  it("has the size of its members, however many units there are", () => {
    const unit = (step: number) =>
      Array.from({ length: 6 }, (_, place) => ({
        samples: 2 as const,
        wins: [0, 1, 2, 3].map((member) => ((step + place + member) % 3 === 0 ? null : (0.5 as const)))
      }))
    const sizeAfter = (steps: number) =>
      JSON.stringify(observeAll(Array.from({ length: steps }, (_, step) => unit(step))).comparison).length
    assert.isAtMost(sizeAfter(400), 1.5 * sizeAfter(20))
  })
})

describe("the model", () => {
  /** θ of the members present, σ² and the prior by the definitions, from the rows of all that were ever present. */
  const direct = (units: Units, left: ReadonlyArray<number> = [], variance = 0.01) => {
    const rows = rowsOf(units)
    const { noise, spread } = scaleOf(units, rows, size - left.length)
    const priors = Array.from({ length: size }, (_, place) => (left.includes(place) ? 1e-7 : 1 / (variance * spread)))
    return Direct.fit(rows, priors, noise)
  }

  /** The variances of a sample, over all questions and within one. The prior row of a newcomer is no degree of freedom. */
  const scaleOf = (units: Units, rows: ReadonlyArray<Direct.Row>, present: number) => {
    const rewards = onlyShared(units).flatMap((unit) => toGroups(unit, 1).flatMap((group) => group.rewards))
    const mean = (rewards.reduce((sum, one) => sum + one, 0) + 1) / (rewards.length + 2)
    const spread = mean * (1 - mean)
    const { freedom } = Direct.fit(
      rowsOf(units),
      Array.from({ length: present }, () => 1e-6),
      1
    )
    const { residual } = Direct.fit(
      rows,
      Array.from({ length: Math.max(present, size) }, () => 1e-6),
      1
    )
    return { spread, noise: (residual + 14 * spread) / (Math.max(0, freedom - present + 1) + 20) }
  }

  it.prop("is a Gaussian model with a free effect of each question", [Units], ([units]) => {
    const { comparison } = observeAll(onlyShared(units))
    const expected = direct(units)
    const posterior = Comparison.posterior(comparison)
    close(differences(posterior), differences(expected), 1e-4)
    for (let a = 0; a < size; a++)
      for (let b = 0; b < a; b++)
        close(Comparison.deviation(posterior, a, b), Comparison.deviation(expected, a, b), 1e-4)
  })

  it.prop(
    "keeps what a member showed about the others when it leaves",
    [Units, Schema.Literals([0, 1, 2, 3])],
    ([units, leaving]) => {
      const before = observeAll(onlyShared(units))
      const { comparison } = Population.remove(before, [id(leaving)])
      // A wide prior, which hides nothing that was shown.
      const expected = direct(units, [leaving], 1)
      const others = [0, 1, 2, 3].filter((place) => place !== leaving)
      const posterior = Comparison.posterior(comparison, 1)
      close(differences(posterior), differences({ means: others.map((place) => expected.means[place] ?? NaN) }), 1e-4)
      for (const [a, first] of others.entries())
        for (const [b, second] of others.slice(0, a).entries())
          close(Comparison.deviation(posterior, a, b), Comparison.deviation(expected, first, second), 1e-4)
    }
  )

  it.prop(
    "forgets a member that met the others nowhere",
    [Units, Schema.Literals([0, 1, 2, 3])],
    ([units, leaving]) => {
      const apart = onlyShared(
        units.map((unit) =>
          unit.map(({ wins, ...question }) => ({
            ...question,
            wins: wins.map((win, member) => (member === leaving ? null : win))
          }))
        )
      )
      const before = observeAll(apart).comparison
      const after = Comparison.leave(
        before,
        instructions.map(({ id }) => id),
        new Set([id(leaving)]),
        unit(9)
      ).precision
      const without = (_: unknown, place: number) => place !== leaving
      close(
        after,
        before.precision.filter(without).map((row) => row.filter(without))
      )
    }
  )

  it.prop("expects a newcomer 2 points below the incumbent, give or take 5", [Units], ([units]) => {
    const before = observeAll(onlyShared(units))
    const { comparison } = Population.add(before, [{ instruction: instruction(7), verification: null }])
    const known = rowsOf(units)
    const weight = (2 * scaleOf(units, known, size).noise) / 0.05 ** 2
    const rows = [
      ...known,
      { member: before.comparison.incumbent, block: "prior", value: 0, weight },
      { member: size, block: "prior", value: -0.02, weight }
    ]
    const { noise, spread } = scaleOf(units, rows, size + 1)
    const expected = Direct.fit(
      rows,
      Array.from({ length: size + 1 }, () => 1 / (0.01 * spread)),
      noise
    )
    const posterior = Comparison.posterior(comparison)
    close(differences(posterior), differences(expected), 1e-3)
    close(Comparison.deviation(posterior, 0, size), Comparison.deviation(expected, 0, size), 1e-3)
    assert.strictEqual(comparison.incumbent, incumbentOf(before.comparison, posterior))
    assert.strictEqual(comparison.generation, before.comparison.generation + 1)
  })
})

describe("the evidence of a pair", () => {
  const Places = Schema.Literals([0, 1, 2, 3])

  it.prop("stays when other members enter or leave", [Units, Places, Places], ([units, a, b]) => {
    const before = observeAll(units)
    const after = Population.remove(
      Population.add(before, [{ instruction: instruction(7) }, { instruction: instruction(8) }]),
      [0, 1, 2, 3].filter((place) => place !== a && place !== b).map(id)
    )
    const of = (population: Population.Contents) => {
      const [place = NaN, rival = NaN] = [a, b].map((one) => Population.ids(population).indexOf(id(one)))
      const { exponents, shares } = population.comparison
      return [exponents[place]?.[rival], shares[place]?.[rival]]
    }
    assert.deepStrictEqual(of(after), of(before))
    const newest = after.comparison.exponents.at(-1) ?? assert.fail("a newcomer")
    for (const own of newest) assert.isTrue(own.every((exponent) => exponent === 0))
  })

  it.prop(
    "has a share of the risk: those of all sum to less than 1",
    [Schema.Array(Schema.Literals([1, 2, 4])).check(Schema.isBetweenLength(1, 6))],
    ([counts]) => {
      let population = Population.begin([])
      let born = 0
      for (const count of counts)
        population = Population.add(
          population,
          Array.from({ length: count }, () => ({ instruction: instruction(born++) }))
        )
      const { shares } = population.comparison
      const total = (some: ReadonlyArray<number>) => some.reduce((sum, share) => sum + share, 0)
      // Alone, there is no other to spend half of the first share on.
      const spent = 1 - 1 / (counts.length + 1)
      assert.approximately(total(shares.flat()), spent - (counts[0] === 1 ? 1 / 4 : 0), 1e-12)
      assert.approximately(total(shares[0] ?? []), spent / 2, 1e-12)
    }
  )

  it.prop("needs more rewards until it is enough, and none from then on", [Units, Places], ([units, place]) => {
    const { comparison } = observeAll(units)
    const evidence = Comparison.evidenceAgainst(comparison)[place] ?? NaN
    for (const delta of [0.05, 0.9]) {
      const needed = Comparison.rewardsNeeded(comparison, place, delta)
      assert.strictEqual(needed === 0, evidence >= 1 / delta)
      assert.isTrue(needed === null || Number.isSafeInteger(needed))
    }
  })

  it("needs as many rewards as it takes to grow so far at the same speed", () => {
    const lead = (steps: number) =>
      observeAll(Array.from({ length: steps }, () => [{ samples: 4 as const, wins: [0.4, 0.5, 0.4, 0.4] }])).comparison
    const needed = Comparison.rewardsNeeded(lead(40), 0, 0.05) ?? NaN
    assert.isAbove(needed, 0)
    const rewards = 40 * 16 + needed
    const eValueAt = (factor: number) => Comparison.evidenceAgainst(lead(Math.round((factor * rewards) / 16)))[0] ?? NaN
    assert.isBelow(eValueAt(0.8), 20)
    assert.isAbove(eValueAt(1.2), 20)
  })
})

describe("P(best)", () => {
  it.prop("is a distribution over the members", [Units], ([units]) => {
    const { chances } = observeAll(units).comparison
    assert.lengthOf(chances, size)
    for (const chance of chances) assert.isTrue(chance >= 0 && chance <= 1)
    assert.approximately(
      chances.reduce((sum, chance) => sum + chance, 0),
      1,
      1e-12
    )
  })

  /** The mean of the chances that the evidence gives in many steps without rewards. */
  const averaged = (comparison: Comparison.Comparison, missing: ReadonlyArray<number> = []) => {
    const names = comparison.weighted.map((_, place) => id(place))
    const steps = Array.from(
      { length: 400 },
      (_, step) =>
        Comparison.observe(comparison, names, {
          ...unit(step),
          missing: comparison.weighted.map((_, place) => missing[place] ?? 0)
        }).chances
    )
    return comparison.weighted.map(
      (_, place) => steps.reduce((sum, one) => sum + (one[place] ?? NaN), 0) / steps.length
    )
  }
  /** Five standard errors of 400 × 200 draws. */
  const noise = 5 * Math.sqrt(0.25 / 80_000)

  it("is what the posterior says", () => {
    const two: ReadonlyArray<Question> = [
      { samples: 2, wins: [0.75, 0.25] },
      { samples: 2, wins: [0.25, 0.5] },
      { samples: 1, wins: [0.75, 0.5] }
    ]
    const { comparison } = Population.observe(
      averaging,
      Population.begin(instructions.slice(0, 2)),
      1,
      toGroups(two, 1)
    )
    const posterior = Comparison.posterior(comparison)
    const [a = NaN, b = NaN] = posterior.means
    const [chance = NaN] = averaged(comparison)
    assert.isAbove(a, b)
    assert.approximately(chance, normalBelow((a - b) / Comparison.deviation(posterior, 0, 1)), noise)
  })

  it("is the same for members with the same rewards", () => {
    const [a = NaN, b = NaN, c = NaN, d = NaN] = averaged(
      observeAll([
        [
          { samples: 4, wins: [0.75, 0.75, 0.25, 0.25] },
          { samples: 4, wins: [0.5, 0.5, 0.4, 0.4] }
        ]
      ]).comparison
    )
    assert.approximately(a, b, 2 * noise)
    assert.approximately(c, d, 2 * noise)
    assert.isAbove(a, c)
  })

  it("follows no difference that missing rewards could explain", () => {
    const { comparison } = observeAll(
      Array.from({ length: 20 }, () => [{ samples: 4, wins: [0.75, 0.25, 0.25, 0.25] }])
    )
    const [known = NaN] = averaged(comparison)
    const [open = NaN, ...others] = averaged(comparison, [0, 0.6, 0.6, 0.6])
    assert.isAbove(known, 0.9)
    assert.isBelow(Math.abs(open - Math.min(...others)), 0.2)
  })
})

describe("the incumbent", () => {
  it.prop("is the leader; a tie changes nothing", [Units], ([units]) => {
    let population = Population.begin(instructions)
    for (const [index, some] of onlyShared(units).entries()) {
      const before = population.comparison.incumbent
      population = Population.observe(averaging, population, index + 1, toGroups(some, index + 1))
      const { comparison } = population
      assert.strictEqual(comparison.incumbent, incumbentOf({ incumbent: before }, Comparison.posterior(comparison)))
    }
  })
})

describe("compare", () => {
  it.prop("values differ as the model says, at the level of the last rewards", [Units], ([units]) => {
    const population = observeAll(units)
    const values = Population.compare.values(population)
    const { means } = Comparison.posterior(population.comparison)
    close(differences({ means: values.map(({ value }) => value) }), differences({ means }))
    assert.deepStrictEqual<ReadonlyArray<number | undefined>>(
      values.map(({ chance }) => chance),
      population.comparison.chances
    )
    const recent = units.slice(-averaging.window).flatMap((unit) => toGroups(unit, 1))
    const rewards = recent.flatMap((group) => group.rewards)
    const expected = recent.flatMap((group) =>
      group.rewards.map(() => values.find((value) => value.id === group.instructionId)?.value ?? NaN)
    )
    if (rewards.length > 0)
      assert.approximately(
        expected.reduce((sum, one) => sum + one, 0) / expected.length,
        rewards.reduce((sum, one) => sum + one, 0) / rewards.length,
        1e-9
      )
  })

  it.prop("describes the difference of two members with its 95 % interval", [Units], ([units]) => {
    const population = observeAll(units)
    // A wide prior, which shrinks no difference that there is evidence for.
    const posterior = Comparison.posterior(population.comparison, 1)
    for (let a = 0; a < size; a++)
      for (let b = 0; b < size; b++) {
        const { lower, mean, upper } = Difference.between(population, id(a), id(b)) ?? assert.fail("two members")
        close(mean, (posterior.means[a] ?? NaN) - (posterior.means[b] ?? NaN))
        close(upper, Math.min(1, mean + 1.96 * Comparison.deviation(posterior, a, b)))
        close(lower, Math.max(-1, mean - 1.96 * Comparison.deviation(posterior, a, b)))
        const needed = Difference.rewardsNeeded(population, id(a), id(b))
        assert.strictEqual(needed === 0, mean !== 0 && (lower >= 0 || upper <= 0))
      }
    assert.isNull(Difference.between(population, id(0), id(9)))
  })
})

describe("a difference with missing rewards", () => {
  it("is shown only if no value of the missing rewards would take it away", () => {
    // Half of the rewards of the worse member are missing: all 1, they would make the two equal.
    const groups = (missing: number) =>
      Array.from({ length: 60 }, (_, place) => [
        { instructionId: id(0), question: `${place}`, rewards: [1, 1, 1, 0] },
        { instructionId: id(1), question: `${place}`, rewards: [1, 0], missing }
      ]).flat()
    const lower = (missing: number) =>
      Difference.between(
        Population.observe(averaging, Population.begin(instructions.slice(0, 2)), 1, groups(missing)),
        id(0),
        id(1)
      )?.lower ?? NaN
    assert.isAbove(lower(0), 0)
    assert.isAtMost(lower(2), 0)
  })
})

describe("the evidence against a member", () => {
  /** The mean reward of each member above that of the first; no rival of those tested is better. */
  const worlds: ReadonlyArray<Record<"offsets" | "tested", ReadonlyArray<number>>> = [
    { offsets: [0, 0, 0], tested: [0, 1, 2] },
    { offsets: [0, -0.15, -0.3], tested: [0] }
  ]
  const lives = 14_000

  for (const { offsets, tested } of worlds)
    it(
      `has a mean of at most its share at any stop, with members ${offsets.join(", ")} apart`,
      { tags: "deep", timeout: 240_000 },
      () => {
        const luck = RandomStream.make(5, ["null", offsets.join()])
        const names = offsets.map((_, place) => id(place))
        const stops = [1, 2, 3].map(() => ({ sum: 0, squares: 0 }))
        for (let life = 0; life < lives; life++) {
          let { comparison } = Population.begin(instructions.slice(0, offsets.length))
          for (const stop of stops) {
            // Those who seemed best so far are asked more often.
            const { chances } = comparison
            const blocks = [1, 2, 3].map(() => {
              const level = luck.next() < 0.5 ? 0.3 : 0.7
              return offsets.flatMap((offset, place) => {
                if (luck.next() > 0.4 + (chances[place] ?? 0)) return []
                const reward = luck.next() < level + offset ? 1 : 0
                return [{ instruction: id(place), weight: 1 / 1.1, low: reward, high: reward }]
              })
            })
            comparison = Comparison.observe(comparison, names, { ...unit(life % 97), blocks })
            const own = Comparison.evidenceAgainst(comparison)
              .map(
                (against, place) => against / (comparison.shares[place] ?? []).reduce((sum, share) => sum + share, 0)
              )
              .filter((_, place) => tested.includes(place))
            const mean = own.reduce((sum, one) => sum + one, 0) / own.length
            stop.sum += mean
            stop.squares += mean ** 2
          }
        }
        for (const { squares, sum } of stops) {
          const mean = sum / lives
          assert.isAtMost(mean, 1 + 3 * Math.sqrt((squares / lives - mean ** 2) / lives))
        }
      }
    )
})

/** The incumbent after another one. */
const incumbentOf = ({ incumbent }: { readonly incumbent: number }, posterior: Comparison.Posterior): number => {
  const most = Math.max(...posterior.means)
  const leader = posterior.means.findIndex((mean) => mean > most - 1e-9)
  return (posterior.means[leader] ?? NaN) > (posterior.means[incumbent] ?? NaN) + 1e-9 ? leader : incumbent
}

const unit = (step: number): Comparison.Unit => ({
  blocks: [],
  waiting: [],
  rewards: { samples: 0, sum: 0 },
  missing: [],
  step
})

/** The standard normal distribution function, by a series. */
const normalBelow = (z: number): number => {
  let term = z
  let sum = z
  for (let n = 1; n < 60; n++) {
    term *= (z * z) / (2 * n + 1)
    sum += term
  }
  return 0.5 + (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI)
}
