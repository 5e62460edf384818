import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { stepOf, takeOffTable } from "../src/TakeOff.ts"

const rewards = fc.array(fc.constantFrom(0, 0.25, 0.5, 1, null), { maxLength: 12 })

describe("the step at which a run takes off", () => {
  it("is the first whose last five rewards are at least a half in the mean", () => {
    fc.assert(
      fc.property(rewards, (rewards) => {
        const found = stepOf(rewards)
        const meanTo = (step: number) =>
          rewards.slice(step - 5, step).reduce<number>((sum, reward) => sum + (reward ?? 0), 0) / 5
        for (let step = 5; step < (found ?? rewards.length + 1); step++) assert.isBelow(meanTo(step), 0.5)
        if (found !== null) assert.isAtLeast(meanTo(found), 0.5)
      })
    )
  })

  it("is not moved by later rewards, and is none before five steps", () => {
    fc.assert(
      fc.property(rewards, rewards, (rewards, later) => {
        const found = stepOf(rewards)
        if (found !== null) assert.strictEqual(stepOf([...rewards, ...later]), found)
      })
    )
    assert.isNull(stepOf([1, 1, 1, 1]))
    assert.strictEqual(stepOf([1, 1, 1, 1, 1]), 5)
  })
})

describe("the table of take-offs", () => {
  it("pairs arms by seed", () => {
    const arm = (name: string, off: ReadonlyArray<number>) => ({
      arm: name,
      runs: new Map(
        Array.from({ length: 10 }, (_, seed) => [
          seed,
          {
            step: off.includes(seed) ? 7 : null,
            rewards: off.includes(seed) ? [0, null, 0.5] : [0, 0],
            seconds: 0,
            underFirst: 0,
            weights: ""
          }
        ])
      )
    })
    const seeds = [0, 1, 2, 3, 4, 5, 6, 7, 8]
    const lines = takeOffTable([arm("evolved", seeds), arm("static", [0, 1, 9])])
    assert.include(lines.join("\n"), "9 of 10")
    // Seven seeds of evolved alone, one of static alone: twice (1 + 8) / 2 ** 8.
    assert.match(lines.at(-1) ?? "", /3 of 10 .* 3, 3, 3, –, –, –, –, –, –, – .* 0\.070 +\| 0\.070 +\|$/u)
  })
})
