import { assert, describe, it } from "@effect/vitest"
import { Presets, type RunConfig } from "@inspo/config"
import { RunState } from "@inspo/coevolution"
import * as fc from "fast-check"
import { letter } from "../src/gate/Tasks.ts"
import { rolloutsOf } from "../src/Arm.ts"
import { trainedLetter } from "../src/studies/Letter.ts"

const spending = (config: RunConfig): RunState.RunState => ({
  ...RunState.unstarted,
  spent: { ...RunState.unstarted.spent, rollouts: { ...RunState.unstarted.spent.rollouts, train: rolloutsOf(config) } }
})

/** The configs of the stages of each arm, if every stage spends what its steps take. */
const configs = (config: RunConfig) =>
  trainedLetter.arms.map(({ name, stages }) => {
    const made = stages.reduce<ReadonlyArray<RunConfig>>(
      (earlier, configure) =>
        earlier.concat(configure({ config, earlier: earlier.map(spending), results: () => [RunState.unstarted] })),
      []
    )
    return { name, stages: made }
  })

describe("the arms of the trained letter", () => {
  it("spend the same number of rollouts", () => {
    fc.assert(
      fc.property(fc.integer({ min: 8, max: 80 }), fc.constantFrom(2, 4), (steps, batchSize) => {
        const config = {
          ...Presets.quick,
          schedule: { ...Presets.quick.schedule, steps, evolveUntil: Math.floor(steps / 4) },
          rollout: { ...Presets.quick.rollout, groupSize: 4 },
          train: { ...Presets.quick.train, batchSize, miniBatch: { ...Presets.quick.train.miniBatch, size: batchSize } }
        }
        for (const { name, stages } of configs(config)) {
          const spent = stages.reduce((sum, stage) => sum + rolloutsOf(stage), 0)
          assert.strictEqual(spent, rolloutsOf(config), name)
          for (const { schedule, verification } of stages)
            if (schedule.evolveEvery > 0 && name === "letter-plain-selection")
              assert.strictEqual(verification.samples, 0)
        }
      }),
      { numRuns: 20 }
    )
  })

  it("begin with the plain instruction, but for the one written by hand, and keep all clauses where none is selected", () => {
    const [plain, best, ...singles] = letter.instructions
    for (const { name, stages } of configs(Presets.quick))
      assert.strictEqual(stages[0]?.seedInstruction, name === "letter-hand-written" ? best : plain)
    const kept = configs(Presets.quick).find(({ name }) => name === "letter-unselected")?.stages[0]
    assert.deepStrictEqual(kept?.variants, singles)
    assert.strictEqual(kept?.population.size, 13)
    assert.deepStrictEqual([kept?.schedule.pruneEvery, kept?.schedule.evolveEvery], [0, 0])
  })

  it("search until a first reward in one arm alone, which is otherwise the evolved one", () => {
    const of = new Map(
      configs({ ...Presets.quick, schedule: { ...Presets.quick.schedule, searchEvery: 0 } }).map(({ name, stages }) => [
        name,
        stages[0]
      ])
    )
    const [evolved, searching] = [of.get("letter-evolved"), of.get("letter-searching")]
    assert.deepStrictEqual(searching?.schedule, { ...evolved?.schedule, searchEvery: 1 })
    assert.deepStrictEqual({ ...searching, schedule: null }, { ...evolved, schedule: null })
    for (const [name, config] of of)
      if (name !== "letter-searching") assert.strictEqual(config?.schedule.searchEvery, 0, name)
  })
})
