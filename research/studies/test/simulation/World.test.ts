import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Schema } from "effect"
import { mean, sampleCovariance, sampleVariance } from "simple-statistics"
import * as World from "../../src/simulation/World.ts"

const Worlds = Schema.Struct({
  values: Schema.NonEmptyArray(Schema.Literals([0.01, 0.2, 0.5, 0.9])),
  question: Schema.Literals([0, 0.25, 0.5]),
  interaction: Schema.Literals([0, 0.1]),
  cases: Schema.Literals([3, 1000]),
  samples: Schema.Literals([1, 5])
})

const ids = ({ values }: World.World) => values.map((_, place) => World.instruction(place).id)
const valueIn =
  (world: World.World): World.Request["valueOf"] =>
  (id) =>
    world.values[ids(world).indexOf(id)] ?? Number.NaN

describe("open", () => {
  it.prop(
    "gives each instruction of a question its samples, and the same for the same seed",
    [Worlds, Schema.Int],
    ([{ samples, ...options }, seed]) => {
      const world = World.make(options)
      const own = ids(world)
      const request = { step: 1, draws: [[...own, ...own.slice(0, 1)], []], samples, valueOf: valueIn(world) }
      const answers = World.open(world, seed)(request)
      assert.deepStrictEqual(World.open(world, seed)(request), answers)
      assert.deepStrictEqual(
        answers.map(({ instructionId }) => instructionId),
        own
      )
      for (const [place, { missing, rewards }] of answers.entries()) {
        assert.lengthOf(rewards, place === 0 ? 2 * samples : samples)
        assert.strictEqual(missing, 0)
        for (const reward of rewards) assert.include([0, 1], reward)
      }
      assert.lengthOf(new Set(answers.map(({ question }) => question)), 1)
    }
  )

  it("has the values and the shares of variance that were asked for", () => {
    for (const [question, interaction, value] of [
      [0.25, 0.05, 0.35],
      [0.4, 0.2, 0.35],
      [0, 0, 0.5],
      [0.15, 0.05, 0.03]
    ] as const) {
      const world = World.make({ values: [value, value], question, interaction })
      const rollOut = World.open(world, 1)
      const draws = Arr.replicate(ids(world), 10_000)
      const answers = Arr.range(1, 4).flatMap((step) => rollOut({ step, draws, samples: 2, valueOf: valueIn(world) }))
      const first = (place: number, sample: number) =>
        answers.filter((_, index) => index % 2 === place).map(({ rewards }) => rewards[sample] ?? Number.NaN)
      const [a, again, b] = [first(0, 0), first(0, 1), first(1, 0)]
      assert.approximately(mean(a), value, 0.01)
      assert.approximately(sampleCovariance(a, b) / sampleVariance(a), question, 0.02)
      assert.approximately(sampleCovariance(a, again) / sampleVariance(a), question + interaction, 0.02)
    }
  })

  it("has other rollouts in another step", () => {
    const world = World.make({ values: [0.5], question: 0.25, interaction: 0.05 })
    const draws = Arr.replicate(ids(world), 64)
    const of = (step: number) => World.open(world, 1)({ step, draws, samples: 1, valueOf: valueIn(world) })
    assert.notDeepEqual(of(1), of(2))
  })

  it("drifts, repeats cases with the same difficulty, and leaves out rewards", () => {
    const options = { values: [0.3], question: 0.5, interaction: 0.1 }
    const own = [World.instruction(0).id]
    const answersOf = (world: World.World, step: number) =>
      World.open(world, 1)({ step, draws: Arr.replicate(own, 10_000), samples: 1, valueOf: () => 0.3 })
    const average = (world: World.World, step: number) => mean(answersOf(world, step).flatMap(({ rewards }) => rewards))
    assert.approximately(average(World.make({ ...options, drift: 0.01 }), 10), 0.4, 0.015)

    const byCase = Map.groupBy(answersOf(World.make({ ...options, cases: 20 }), 1), ({ question }) => question)
    assert.strictEqual(byCase.size, 20)
    const shares = [...byCase.values()].map((answers) => mean(answers.flatMap(({ rewards }) => rewards)))
    // 0.6 of 0.21 is the variance between the chances of cases.
    assert.approximately(sampleVariance(shares), 0.126, 0.07)

    const biased = answersOf(World.make({ ...options, missing: { failure: 0.5, success: 0 } }), 1)
    assert.approximately(mean(biased.map(({ missing }) => missing)), 0.35, 0.02)
    assert.approximately(mean(biased.flatMap(({ rewards }) => rewards)), 0.3 / 0.65, 0.02)
  })
})
