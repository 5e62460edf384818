import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Schema } from "effect"
import * as World from "../../src/simulation/World.ts"
import { mean, sampleVariance } from "simple-statistics"

const Share = Schema.Literals([0, 0.2, 0.5, 1])
const Worlds = Schema.Struct({
  means: Schema.NonEmptyArray(Share),
  correlation: Share,
  groupSize: Schema.Literals([1, 2, 5]),
  seed: Schema.Int
})

const ids = (world: World.World) => World.instructions(world).map(({ id }) => id)

describe("rollOut", () => {
  it.prop("gives each assigned instruction a group of G rewards, 0 or 1, in order", [Worlds], ([world]) => {
    const assignment = [...ids(world), ...ids(world)]
    const groups = World.rollOut(world, assignment, { seed: world.seed, step: 1 })
    assert.deepStrictEqual(
      groups.map(({ instructionId }) => instructionId),
      assignment
    )
    for (const { rewards } of groups) {
      assert.lengthOf(rewards, world.groupSize)
      for (const reward of rewards) assert.include([0, 1], reward)
      if (world.correlation === 1) assert.lengthOf(new Set(rewards), 1)
    }
  })

  it.prop("is equal for equal streams", [Worlds], ([world]) => {
    const rollOut = (step: number) => World.rollOut(world, ids(world), { seed: world.seed, step })
    assert.deepStrictEqual(rollOut(3), rollOut(3))
  })

  it("has a stream for each step and seed", () => {
    const world = { means: [0.5], correlation: 0, groupSize: 1 }
    const rollOut = (seed: number, step: number) =>
      World.rollOut(world, Arr.replicate(ids(world), 64).flat(), { seed, step })
    assert.notDeepEqual(rollOut(1, 1), rollOut(1, 2))
    assert.notDeepEqual(rollOut(1, 1), rollOut(2, 1))
  })

  it("has the mean and the variance of the world", () => {
    for (const correlation of [0, 0.3, 1]) {
      const world = { means: [0.3], correlation, groupSize: 5 }
      const groups = World.rollOut(world, Arr.replicate(ids(world), 8000).flat(), { seed: 1, step: 1 })
      const means = groups.map(({ rewards }) => mean([...rewards]))
      assert.approximately(mean(means), 0.3, 0.02)
      assert.approximately(sampleVariance(means), 0.21 * (correlation + (1 - correlation) / 5), 0.01)
    }
  })
})

describe("best", () => {
  it.prop("is the first instruction with the largest mean", [Worlds], ([world]) => {
    const place = ids(world).indexOf(World.best(world))
    const means: ReadonlyArray<number> = world.means
    assert.strictEqual(place, means.indexOf(Math.max(...means)))
  })
})
