import { assert, describe, it } from "@effect/vitest"
import { Instruction } from "@inspo/domain"
import { Schema } from "effect"
import { movingSteps } from "../../src/Means.ts"
import { stepChange } from "../../src/projection/StepChange.ts"
import * as RunRecord from "../../src/RunRecord.ts"
import { sentence } from "../../src/view/StepChangeView.ts"
import { config, events } from "../support/Log.ts"

const whole = RunRecord.observe(RunRecord.empty(config), events)
const Step = Schema.Int.check(Schema.isBetween({ minimum: -3, maximum: config.schedule.steps + 8 }))

const trained = whole.batches.flatMap((batch) => (batch.purpose === "train" ? [batch] : []))

/** All training rewards of the steps from `from` to `to`. */
const rewards = (from: number, to: number) =>
  trained.flatMap(({ groups, step }) => (step < from || step > to ? [] : groups.flatMap(({ rewards }) => rewards)))

const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length

describe("the change of the reward at a step", () => {
  it.prop("is the difference of the mean rewards around it, and the sum of its parts", [Step], ([step]) => {
    const change = stepChange(whole, step)
    const [before, after] = [rewards(step - movingSteps, step - 1), rewards(step, step + movingSteps - 1)]
    assert.strictEqual(change === null, before.length === 0 || after.length === 0)
    if (change === null) return
    const { difference, instructions, parts } = change
    assert.deepStrictEqual([change.before.answers, change.after.answers], [before.length, after.length])
    assert.approximately(difference.mean, mean(after) - mean(before), 1e-12)
    for (const sums of [Object.values(parts), instructions.map(({ part }) => part)])
      assert.approximately(
        sums.reduce((sum, part) => sum + part, 0),
        difference.mean,
        1e-12
      )
    if (difference.ci95 !== null) {
      assert.isAtMost(difference.ci95[0], difference.mean)
      assert.isAtLeast(difference.ci95[1], difference.mean)
    }
    const isKnown = difference.ci95 !== null && (difference.ci95[0] > 0 || difference.ci95[1] < 0)
    assert.strictEqual(sentence(change).includes("may be chance"), !isKnown)
  })

  it("is zero within the instructions whose rewards stay, where only the shares change", () => {
    const [first] = trained
    if (first === undefined) return assert.fail("no step")
    const group = (instructionId: string, reward: number) => ({
      ...(first.groups[0] ?? assert.fail("no group")),
      instructionId: Instruction.InstructionId.make(instructionId),
      rewards: [reward] as const
    })
    const step = (number: number, groups: ReadonlyArray<ReturnType<typeof group>>) => ({
      ...first,
      step: number,
      groups
    })
    const [good, bad] = [group("i0", 1), group("i1", 0)]
    const at = (before: typeof first, after: typeof first) =>
      stepChange({ ...whole, batches: [before, after] }, 2)?.parts ?? assert.fail("no change")
    const moved = at(step(1, [good, good, good, bad]), step(2, [good, bad, bad, bad]))
    assert.approximately(moved.shares, -0.5, 1e-12)
    assert.strictEqual(moved.within, 0)
    const worse = at(step(1, [good, bad]), step(2, [{ ...good, rewards: [0.2] as const }, bad]))
    assert.approximately(worse.within, -0.4, 1e-12)
    assert.strictEqual(worse.shares, 0)
    const came = at(step(1, [good]), step(2, [good, bad]))
    assert.isBelow(came.entered, -0.3)
    assert.isAbove(at(step(1, [good, bad]), step(2, [good])).left, 0.1)
  })
})
