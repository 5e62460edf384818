import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as LearningRate from "../src/LearningRate.ts"

const Options = Schema.Struct({
  learningRate: Schema.Literals([1e-6, 3e-4, 1]),
  schedule: LearningRate.Schedule,
  warmupRatio: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
})
const Steps = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 400 }))

const rates = (options: LearningRate.Options, totalSteps: number): ReadonlyArray<number> =>
  Array.from({ length: totalSteps }, (_, i) => LearningRate.at(options, i + 1, totalSteps))

describe("LearningRate", () => {
  it("warms up over a tenth of the paper's 300 steps, then follows the cosine", () => {
    const options = { learningRate: 1, schedule: "cosine", warmupRatio: 0.1 } as const
    assert.closeTo(LearningRate.at(options, 1, 300), 1 / 30, 1e-12)
    assert.strictEqual(LearningRate.at(options, 30, 300), 1)
    assert.closeTo(LearningRate.at(options, 30 + 271 / 2, 300), 0.5, 1e-12)
  })

  it.prop("lies in (0, peak] at every step", [Options, Steps], ([options, totalSteps]) => {
    for (const rate of rates(options, totalSteps)) {
      assert.isAbove(rate, 0)
      assert.isAtMost(rate, options.learningRate)
    }
  })

  it.prop("rises through the warm-up and never after it", [Options, Steps], ([options, totalSteps]) => {
    const warmup = Math.round(options.warmupRatio * totalSteps)
    const all = rates(options, totalSteps)
    all.slice(1).forEach((rate, i) => {
      const previous = all[i] ?? Number.NaN
      if (i + 2 <= warmup) assert.isAbove(rate, previous)
      else assert.isAtMost(rate, previous)
    })
  })

  it.prop(
    "makes no jump larger than the warm-up's and the cosine's slopes",
    [Options, Steps],
    ([options, totalSteps]) => {
      const warmup = Math.round(options.warmupRatio * totalSteps)
      const slope = Math.max(1 / Math.max(1, warmup), Math.PI / 2 / (totalSteps - warmup + 1))
      const all = rates(options, totalSteps)
      all.slice(1).forEach((rate, i) => {
        assert.isAtMost(Math.abs(rate - (all[i] ?? Number.NaN)), options.learningRate * slope * (1 + 1e-9))
      })
    }
  )

  it("keeps the last rate beyond the last step", () => {
    const options = { learningRate: 1, schedule: "cosine", warmupRatio: 0 } as const
    assert.strictEqual(LearningRate.at(options, 11, 10), LearningRate.at(options, 10, 10))
  })
})
