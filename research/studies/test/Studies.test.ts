import { assert, describe, it } from "@effect/vitest"
import { Presets, type RunConfig } from "@inspo/config"
import { RunState, inconsistency } from "@inspo/coevolution"
import { catalogue } from "../src/Catalogue.ts"
import { type Arm, rolloutsOf } from "../src/Arm.ts"
import { studies } from "../src/Studies.ts"
import { arena, arenaTuning } from "../src/studies/Arena.ts"

/** A run that has spent what a quick run spends, whatever its arm. */
const spent: RunState.RunState = {
  ...RunState.unstarted,
  spent: {
    rollouts: { ...RunState.unstarted.spent.rollouts, train: 4800, verification: 500 },
    tokens: { ...RunState.unstarted.spent.tokens, train: 1_000_000, verification: 100_000 }
  }
}

const configs = (arm: Arm, config: RunConfig): ReadonlyArray<RunConfig> =>
  arm.stages.map((configure) => configure({ config, results: () => [spent], earlier: [spent] }))

describe.each(studies)("$name", ({ arms, claims = [], comparisons, dial, main = [] }) => {
  const names = arms.map(({ name }) => name)

  it("names its arms once, and each after those it needs", () => {
    assert.strictEqual(new Set(names).size, names.length)
    for (const [index, { needs }] of arms.entries())
      for (const need of needs) assert.include(names.slice(0, index), need)
  })

  it("compares and draws arms that it has", () => {
    const drawn = (dial?.lines ?? []).flatMap(({ pairs }) => pairs.flat())
    const named = [...main, ...comparisons.flat(), ...claims.flat(), ...drawn]
    for (const name of named) assert.include(names, name)
  })

  it("has a valid config for every arm, with all test questions", () => {
    for (const arm of arms) {
      const stages = configs(arm, Presets.quick)
      for (const config of stages) assert.isNull(inconsistency(config), arm.name)
      assert.strictEqual(stages.at(-1)?.evaluation.questions, Presets.quick.evaluation.questions, arm.name)
      assert.isTrue(stages.every(({ randomSeed }) => randomSeed === Presets.quick.randomSeed))
    }
  })
})

describe("studies", () => {
  it("share the runs of an arm: one name is one config", () => {
    const known = new Map<string, ReadonlyArray<RunConfig>>()
    for (const arm of studies.flatMap(({ arms }) => arms)) {
      const own = configs(arm, Presets.quick)
      assert.deepStrictEqual(known.get(arm.name) ?? own, own, arm.name)
      known.set(arm.name, own)
    }
  })

  it("give an arm the tokens of another by what all of its own stages took", () => {
    const arm = studies.flatMap(({ arms }) => arms).find(({ name }) => name === "together-instruction-first-tokens")
    const of = (train: number, tokens: number): RunState.RunState => ({
      ...spent,
      spent: {
        rollouts: { ...RunState.unstarted.spent.rollouts, train },
        tokens: { ...RunState.unstarted.spent.tokens, train: tokens }
      }
    })
    const results = (name: string) =>
      name === "together-evolved" ? [of(5200, 780_000)] : [of(1200, 60_000), of(4000, 460_000)]
    const [, last] = (arm?.stages ?? []).map((configure) =>
      configure({ config: Presets.quick, results, earlier: [of(1200, 60_000)] })
    )
    const rollouts = last === undefined ? 0 : rolloutsOf(last)
    // 520,000 tokens for 5,200 rollouts are 100 a rollout.
    assert.closeTo(rollouts, 7800 - 1200, Presets.quick.train.batchSize * Presets.quick.rollout.groupSize)
  })

  it("draw into separate files, since they may share a directory", () => {
    const files = studies.flatMap(({ draws = [] }) => draws.map(({ metric }) => metric))
    assert.strictEqual(new Set(files).size, files.length)
  })
})

describe("tuning", () => {
  it("changes only the learning rate of an arm", () => {
    for (const arm of arenaTuning.arms) {
      const [name, rate] = arm.name.split("-lr-")
      const base = arena.arms.find((known) => known.name === `${name}-tuned`)
      assert.isDefined(base, arm.name)
      const expected = configs(base, Presets.quick).map((config) => ({
        ...config,
        train: { ...config.train, learningRate: Number(rate) }
      }))
      assert.deepStrictEqual(configs(arm, Presets.quick), expected, arm.name)
    }
  })
})

describe("the catalogue", () => {
  it("names every study that makes runs, in their order", () => {
    assert.deepStrictEqual(
      catalogue.flatMap(({ by, name }) => (by === "runs" ? [name] : [])),
      studies.map(({ name }) => name)
    )
  })
})
