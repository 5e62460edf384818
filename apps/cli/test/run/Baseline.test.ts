import { assert, describe, it } from "@effect/vitest"
import { inconsistency, Presets } from "@inspo/coevolution"
import { Schema } from "effect"
import { cacheKey, staticConfig } from "../../src/run/Baseline.ts"

const Rollouts = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))
const identity = { engine: "e", data: "d", code: "c" }

describe("staticConfig", () => {
  it.prop("spends the budget, and less than a step more", [Rollouts], ([rollouts]) => {
    const config = staticConfig(Presets.quick, rollouts)
    const perStep = config.train.batchSize * config.rollout.groupSize
    assert.isAtLeast(config.schedule.steps * perStep, rollouts)
    assert.isBelow((config.schedule.steps - 1) * perStep, rollouts)
  })

  it("keeps one instruction, changes nothing about training, and is consistent", () => {
    const config = staticConfig(Presets.quick, 4800)
    assert.strictEqual(config.population.size, 1)
    assert.isNull(inconsistency(config))
    const { data, evaluation, instruction, retrieval, rollout, seed, train } = Presets.quick
    assert.deepInclude(config, { data, evaluation, instruction, retrieval, rollout, seed, train })
  })
})

describe("cacheKey", () => {
  const config = staticConfig(Presets.quick, 4800)
  const key = cacheKey(config, identity)

  it("does not depend on worker counts and checkpoint intervals", () => {
    const { checkpoint, engine } = config
    assert.strictEqual(cacheKey({ ...config, engine: { ...engine, workers: 3 } }, identity), key)
    assert.strictEqual(cacheKey({ ...config, checkpoint: { ...checkpoint, keep: 7 } }, identity), key)
  })

  it("depends on seed, steps, checkpoint, data and code", () => {
    const others = [
      cacheKey({ ...config, seed: config.seed + 1 }, identity),
      cacheKey(staticConfig(Presets.quick, 9600), identity),
      cacheKey({ ...config, train: { ...config.train, learningRate: 1 } }, identity),
      cacheKey(config, { ...identity, engine: "x" }),
      cacheKey(config, { ...identity, data: "x" }),
      cacheKey(config, { ...identity, code: "x" })
    ]
    assert.strictEqual(new Set([key, ...others]).size, others.length + 1)
  })
})
