import { assert, describe, it } from "@effect/vitest"
import { Presets, staticConfig } from "@inspo/config"
import { cacheKey } from "../../src/run/Baseline.ts"

const identity = { engine: "e", data: "d", code: "c" }

describe("cacheKey", () => {
  const config = staticConfig(Presets.quick, 4800)
  const key = cacheKey(config, identity)

  it("does not depend on worker counts and checkpoint intervals", () => {
    const { checkpoint, engine } = config
    assert.strictEqual(cacheKey({ ...config, engine: { ...engine, concurrency: 3 } }, identity), key)
    assert.strictEqual(cacheKey({ ...config, checkpoint: { ...checkpoint, keep: 7 } }, identity), key)
  })

  it("depends on seed, steps, checkpoint, data and code", () => {
    const others = [
      cacheKey({ ...config, randomSeed: config.randomSeed + 1 }, identity),
      cacheKey(staticConfig(Presets.quick, 9600), identity),
      cacheKey({ ...config, train: { ...config.train, learningRate: 1 } }, identity),
      cacheKey(config, { ...identity, engine: "x" }),
      cacheKey(config, { ...identity, data: "x" }),
      cacheKey(config, { ...identity, code: "x" })
    ]
    assert.strictEqual(new Set([key, ...others]).size, others.length + 1)
  })
})
