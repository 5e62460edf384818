import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Decline } from "@inspo/policy-gradient"
import * as LearningRate from "../src/LearningRate.ts"

const Peak = Schema.Literals([1e-6, 3e-4, 1])
const Steps = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 400 }))

const schedule = { learningRate: 1, warmup: 0.1, decay: "cosine" } as const
const Schedule = Schema.Struct({ learningRate: Peak, warmup: Schema.Literals([0, 0.1, 0.5, 1]), decay: Decline })

const rates = (of: typeof Schedule.Type, totalSteps: number): ReadonlyArray<number> =>
  Array.from({ length: totalSteps }, (_, i) => LearningRate.at(of, i + 1, totalSteps))

describe("LearningRate", () => {
  it("warms up over a tenth of the paper's 300 steps, then follows the cosine", () => {
    assert.closeTo(LearningRate.at(schedule, 1, 300), 1 / 30, 1e-12)
    assert.strictEqual(LearningRate.at(schedule, 30, 300), 1)
    assert.closeTo(LearningRate.at(schedule, 30 + 271 / 2, 300), 0.5, 1e-12)
  })

  it.prop("is in (0, peak] at every step", [Schedule, Steps], ([of, totalSteps]) => {
    for (const rate of rates(of, totalSteps)) {
      assert.isAbove(rate, 0)
      assert.isAtMost(rate, of.learningRate)
    }
  })

  it.prop("rises through the warm-up and never after it", [Schedule, Steps], ([of, totalSteps]) => {
    const warmup = Math.round(of.warmup * totalSteps)
    const all = rates(of, totalSteps)
    all.slice(1).forEach((rate, i) => {
      const previous = all[i] ?? Number.NaN
      if (i + 2 <= warmup) assert.isAbove(rate, previous)
      else assert.isAtMost(rate, previous)
    })
  })

  it.prop("makes no jump larger than the warm-up's and the cosine's slopes", [Schedule, Steps], ([of, totalSteps]) => {
    const warmup = Math.round(of.warmup * totalSteps)
    const slope = Math.max(1 / Math.max(1, warmup), Math.PI / 2 / (totalSteps - warmup + 1))
    const all = rates(of, totalSteps)
    all.slice(1).forEach((rate, i) => {
      assert.isAtMost(Math.abs(rate - (all[i] ?? Number.NaN)), of.learningRate * slope * (1 + 1e-9))
    })
  })

  it("falls along a line, or stays", () => {
    assert.strictEqual(LearningRate.at({ ...schedule, warmup: 0, decay: "linear" }, 2, 3), 0.5)
    assert.strictEqual(LearningRate.at({ ...schedule, warmup: 0, decay: "constant" }, 3, 3), 1)
    assert.strictEqual(LearningRate.at({ ...schedule, warmup: 1, decay: "constant" }, 1, 4), 0.25)
  })

  it("keeps the last rate beyond the last step", () => {
    assert.strictEqual(LearningRate.at(schedule, 11, 10), LearningRate.at(schedule, 10, 10))
  })
})
