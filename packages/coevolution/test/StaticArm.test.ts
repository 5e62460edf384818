import { assert, describe, it } from "@effect/vitest"
import { Presets, StaticArm, inconsistency } from "@inspo/coevolution"
import { Schema } from "effect"

const Rollouts = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))

describe("staticAlgorithm", () => {
  it.prop("spends the budget, and less than a step more", [Rollouts], ([rollouts]) => {
    const algorithm = StaticArm.staticAlgorithm(Presets.quick, rollouts)
    const perStep = algorithm.train.batchSize * algorithm.rollout.groupSize
    assert.isAtLeast(algorithm.schedule.steps * perStep, rollouts)
    assert.isBelow((algorithm.schedule.steps - 1) * perStep, rollouts)
  })

  it("keeps one instruction, changes nothing about training, and is consistent", () => {
    const algorithm = StaticArm.staticAlgorithm(Presets.quick, 4800)
    assert.strictEqual(algorithm.population.size, 1)
    assert.isNull(inconsistency(algorithm))
    const { data, evaluation, randomSeed, retrieval, rollout, seedInstruction, train } = Presets.quick
    assert.deepInclude(algorithm, { data, evaluation, randomSeed, retrieval, rollout, seedInstruction, train })
  })
})
