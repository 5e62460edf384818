import { assert, describe, it } from "@effect/vitest"
import { Presets, type Algorithm, RunState, Strategies } from "@inspo/coevolution"
import { Advantage } from "@inspo/policy-gradient"
import { Population } from "@inspo/population"
import { Shares } from "@inspo/sampler"
import { Schema } from "effect"
import * as Trace from "./support/Trace.ts"

const between = (minimum: number, maximum: number) => Schema.Finite.check(Schema.isBetween({ minimum, maximum }))

/** Also where doubles run out. */
const Temperature = Schema.Union([between(1e-6, 10), Schema.Literals([1e-6, 1e-3, 0.2, 1, 1e6])])
const Value = Schema.Union([between(-1e6, 1e6), Schema.Literals([-1e6, -5e-324, 0, 5e-324, 1, 1e6])])
const Reward = Schema.Union([between(0, 1), Schema.Literals([0, 5e-324, 1e-160, 0.1, 1 - 2 ** -53, 1])])

/** Of four instructions, some drawn in some steps. */
const History = Schema.Array(
  Schema.Array(
    Schema.Struct({
      member: Schema.Literals([0, 1, 2, 3]),
      rewards: Schema.NonEmptyArray(Reward).check(Schema.isMaxLength(5))
    })
  ).check(Schema.isMaxLength(6))
).check(Schema.isMaxLength(12))

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

describe("Eq. 4", () => {
  it.prop(
    "gives shares that sum to 1 for values up to ±1e6 and τ_s down to 1e-6",
    [Schema.NonEmptyArray(Value).check(Schema.isMaxLength(9)), Temperature],
    ([values, temperature]) => {
      const shares = Shares.softmax(values, temperature)
      for (const share of shares) assert.isTrue(share >= 0 && share <= 1)
      assert.approximately(sum(shares), 1, 1e-12)
    },
    { arbitrary: { runs: 1000 } }
  )

  it.prop(
    "multiplies the odds by e^(Δ/τ) for a difference of Δ, wherever the values lie",
    [Value, Temperature, Schema.NonEmptyArray(between(-300, 300)).check(Schema.isMaxLength(5))],
    ([base, temperature, differences]) => {
      const values = differences.map((difference) => base + difference * temperature)
      const shares = Shares.softmax(values, temperature)
      for (const [i, own] of values.entries())
        for (const [j, other] of values.entries()) {
          const exponent = (own - other) / temperature
          const odds = Math.log(shares[i] ?? NaN) - Math.log(shares[j] ?? NaN)
          assert.approximately(odds, exponent, 1e-9 * Math.max(1, Math.abs(exponent)))
        }
    },
    { arbitrary: { runs: 500 } }
  )
})

const readings: ReadonlyArray<readonly [string, Algorithm]> = [
  ["paper", Presets.paper],
  ["robust", Presets.robust],
  [
    "bottom half of the compared",
    { ...Presets.robust, selection: { ...Presets.robust.selection, removal: "bottom-half" } }
  ]
]

describe("from rewards to parents", () => {
  for (const [name, preset] of readings)
    it.prop(
      `no reward sequence makes a number that is none (${name})`,
      { history: History, temperature: Temperature, window: Schema.Literals([1, 2, 5]) },
      ({ history, temperature, window }) => {
        const algorithm = { ...preset, selection: { ...preset.selection, window } }
        const { admission, removal, valuation } = Strategies.ofAlgorithm(algorithm)
        const finite = Schema.is(Population.Contents)
        let population = Population.begin(Trace.instructions(4))
        for (const [index, step] of history.entries()) {
          const alive = new Set(Population.ids(population))
          const groups = step.map(toGroup).filter(({ instructionId }) => alive.has(instructionId))
          population = valuation.observe(population, index + 1, groups)
          assert.isTrue(finite(population))
          const values = valuation.values(population)
          // A difference within questions, added to a mean, can leave the range of rewards.
          for (const { value } of values)
            assert.isTrue(
              preset.selection.average === "questions" ? Math.abs(value) < 3 : value >= 0 && value <= 1 + 1e-12
            )
          const shares = Shares.softmax(
            values.map(({ value }) => value),
            temperature
          )
          assert.approximately(sum(shares), 1, 1e-12)
          const { kept, pruned } = removal.prune(population, values)
          assert.strictEqual(kept.length + pruned.length, population.members.length)
          const parents = removal.parents(population, values)
          assert.strictEqual(parents.length, algorithm.population.parents)
          for (const { instruction } of parents) assert.include(kept, instruction.id)
          const replaced = admission.replaced(
            population,
            values,
            new Set(parents.map(({ instruction }) => instruction.id)),
            parents.length
          )
          assert.strictEqual(replaced.length, population.members.length - parents.length)
          for (const { certainty = 1, value } of [...pruned, ...replaced])
            assert.isTrue(Number.isFinite(value) && certainty >= 0 && certainty <= 1)
          if (index % 5 === 4)
            population = Population.remove(
              population,
              pruned.map(({ id }) => id)
            )
        }
      },
      { arbitrary: { runs: 150 } }
    )
})

const Kind = Schema.Literals(Advantage.estimators.map(({ name }) => name))

describe("Eq. 3", () => {
  it.prop(
    "gives finite advantages that sum to 0, for any rewards",
    [Schema.NonEmptyArray(Reward).check(Schema.isMaxLength(8)), Kind],
    ([rewards, kind]) => {
      const advantages = Advantage.advantages(rewards, kind)
      for (const advantage of advantages) assert.isTrue(Number.isFinite(advantage))
      // These two compare nothing, or praise one alone.
      if (kind !== "reward" && kind !== "best-of-group") assert.approximately(sum(advantages), 0, 1e-9)
    },
    { arbitrary: { runs: 500 } }
  )
})

const toGroup = ({ member, rewards }: (typeof History.Type)[number][number]): Population.Observed => ({
  instructionId: RunState.instructionId(member),
  rewards
})
