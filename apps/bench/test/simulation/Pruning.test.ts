import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Schema } from "effect"
import { InstructionValue } from "@inspo/population"
import { Sampler } from "@inspo/sampler"
import { SuccessiveHalving } from "@inspo/successive-halving"
import * as Pruning from "../../src/simulation/Pruning.ts"
import type * as World from "../../src/simulation/World.ts"

const common = { batchSize: 16, pruneEvery: 2, steps: 8 }

const paper: Pruning.Loop = {
  ...common,
  valuation: InstructionValue.lastDraws({ window: 5 }),
  averaging: { window: 5, average: "window", span: "draws" },
  sampler: Sampler.independent({ temperature: 0.2 }),
  halving: SuccessiveHalving.bottomHalf({ parents: 1 }),
  ranking: "before"
}

const confident = (delta: number, comparisons: number): Pruning.Loop => ({
  ...common,
  valuation: InstructionValue.recentSteps({ window: 5 }),
  averaging: { window: 5, average: "observed", span: "steps" },
  sampler: Sampler.make({ temperature: 0.2, assignment: "stratified", newcomers: "everyone" }),
  halving: SuccessiveHalving.confident({ parents: 1, delta, comparisons }),
  ranking: "after"
})

const world = (means: ReadonlyArray<number>): World.World => ({ means, correlation: 0.3, groupSize: 2 })

const outcomes = (means: ReadonlyArray<number>, loop: Pruning.Loop, count: number) =>
  Arr.makeBy(count, (seed) => Pruning.simulate(world(means), loop, seed))

const lost = (found: ReadonlyArray<Pruning.Outcome>) => found.filter(({ lostAt }) => lostAt !== null).length

describe("simulate", () => {
  it.prop(
    "is deterministic, prunes on schedule and keeps at least one",
    [Schema.NonEmptyArray(Schema.Literals([0, 0.4, 0.6, 1])), Schema.Int],
    ([means, seed]) => {
      for (const loop of [paper, confident(0.2, 8)]) {
        const outcome = Pruning.simulate(world(means), loop, seed)
        assert.deepStrictEqual(Pruning.simulate(world(means), loop, seed), outcome)
        assert.isAtLeast(outcome.left, 1)
        assert.strictEqual(outcome.decidedAt !== null, outcome.left === 1)
        for (const step of [outcome.decidedAt, outcome.lostAt]) if (step !== null) assert.strictEqual(step % 2, 0)
        if (outcome.lostAt !== null) assert.isFalse(outcome.found)
      }
    },
    { arbitrary: { runs: 30 } }
  )

  it("halving loses a given one of equal instructions as often as chance", () => {
    const found = outcomes([0.4, 0.4, 0.4, 0.4], paper, 400)
    assert.isTrue(found.every(({ decidedAt }) => decidedAt === 4))
    assert.approximately(lost(found) / 400, 3 / 4, 0.07)
  })

  it("finds a much better instruction with any rule", () => {
    for (const loop of [paper, { ...confident(0.05, 3), steps: 60 }]) {
      const found = outcomes([0.1, 0.1, 0.9, 0.1], loop, 50)
      assert.isAtLeast(found.filter((outcome) => outcome.found && outcome.left === 1).length, 48)
    }
  })

  it("certain: loses the first of two equals with probability δ at most, looking at every step", () => {
    const delta = 0.5
    const twins: World.World = { means: [0.5, 0.5], correlation: 1, groupSize: 1 }
    const loop = { ...confident(delta, 1), batchSize: 32, pruneEvery: 1, steps: 40 }
    const share = lost(Arr.makeBy(250, (seed) => Pruning.simulate(twins, loop, seed))) / 250
    // Three standard deviations of a share.
    assert.isAtMost(share, delta + 3 * Math.sqrt((delta * (1 - delta)) / 250))
    assert.isAtLeast(share, 0.05)
  })

  it("certain: loses it less often than halving, and takes longer", () => {
    const means = [0.5, 0.4, 0.4, 0.4]
    const [halved, sure] = [outcomes(means, paper, 100), outcomes(means, { ...confident(0.1, 3), steps: 30 }, 100)]
    assert.isAbove(lost(halved), 20)
    assert.isAtMost(lost(sure), 15)
    assert.isBelow(sure.filter(({ decidedAt }) => decidedAt !== null && decidedAt <= 4).length, 5)
  })
})
