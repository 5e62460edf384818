import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Presets, type RunConfig } from "@inspo/config"
import { RunState, inconsistency } from "@inspo/coevolution"
import { ClauseBank } from "@inspo/reflection"
import { Schema } from "effect"
import { catalogue } from "../src/Catalogue.ts"
import type { Arm } from "../src/Arm.ts"
import { studies } from "../src/Studies.ts"
import * as Banks from "../src/studies/Banks.ts"
import { best } from "../src/studies/Rates.ts"
import { staticVsEvolved } from "../src/studies/StaticVsEvolved.ts"
import { table1 } from "../src/studies/Table1.ts"
import { tuning } from "../src/studies/Tuning.ts"

const Record = Schema.Struct({
  arms: Schema.Array(
    Schema.Struct({
      arm: Schema.String,
      em: Schema.Struct({ mean: Schema.Finite }),
      seeds: Schema.Array(Schema.Struct({ seed: Schema.Int }))
    })
  )
})

/** A run that has spent what a quick run spends, whatever its arm. */
const spent: RunState.RunState = {
  ...RunState.unstarted,
  spent: {
    rollouts: { ...RunState.unstarted.spent.rollouts, train: 4800, verification: 500 },
    tokens: { ...RunState.unstarted.spent.tokens, train: 1_000_000, verification: 100_000 }
  }
}

const configs = (arm: Arm, config: RunConfig): ReadonlyArray<RunConfig> =>
  arm.stages.map((configure) => configure({ config, results: () => spent, earlier: [spent] }))

describe.each(studies)("$name", ({ arms, comparisons, draws = [], main, paper = [] }) => {
  const names = arms.map(({ name }) => name)

  it("names its arms once, and each after those it needs", () => {
    assert.strictEqual(new Set(names).size, names.length)
    for (const [index, { needs }] of arms.entries())
      for (const need of needs) assert.include(names.slice(0, index), need)
  })

  it("compares and draws arms that it has", () => {
    const named = [...main, ...comparisons.flat(), ...paper.flat(), ...draws.flatMap((drawing) => drawing.arms)]
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

  it("draw into separate files, since they may share a directory", () => {
    const files = studies.flatMap(({ draws = [] }) => draws.map(({ file }) => file))
    assert.strictEqual(new Set(files).size, files.length)
  })
})

describe("tuning", () => {
  it("changes only the learning rate of an arm and what depends on it", () => {
    for (const arm of tuning.arms) {
      const [name, rate] = arm.name.split("-lr-")
      const base = [...table1.arms, ...staticVsEvolved.arms].find((known) => known.name === name)
      assert.isDefined(base, arm.name)
      const expected = configs(base, Presets.quick).map((config) => ({
        ...config,
        train: { ...config.train, learningRate: Number(rate) }
      }))
      assert.deepStrictEqual(configs(arm, Presets.quick), expected, arm.name)
    }
  })
})

describe("arms at their best", () => {
  const record = Schema.decodeSync(Schema.fromJsonString(Record))(
    readFileSync(new URL("../../../research/docs/evidence/tuning.json", import.meta.url), "utf8")
  )

  it("have the learning rate with the highest mean in the record, the lower one if equal", () => {
    const found = new Map<string, { readonly rate: number; readonly em: number }>()
    for (const { arm, em } of record.arms) {
      const [name = "", rate = ""] = arm.split("-lr-")
      if (em.mean > (found.get(name)?.em ?? -1)) found.set(name, { rate: Number(rate), em: em.mean })
    }
    assert.deepStrictEqual(new Map(Object.entries(best)), new Map([...found].map(([name, { rate }]) => [name, rate])))
  })

  it("are the rate of the preset quick if evolved and static arms agree", () => {
    assert.strictEqual(best["evolved"], best["static"])
    assert.strictEqual(Presets.quick.train.learningRate, best["evolved"])
  })

  it("were compared at every rate on the same seeds", () => {
    const tried = Map.groupBy(record.arms, ({ arm }) => arm.split("-lr-")[0])
    for (const [, arms] of tried)
      assert.lengthOf(new Set(arms.map(({ seeds }) => seeds.map(({ seed }) => seed).join())), 1)
    const rates = [...tried.values()].map((arms) => arms.map(({ arm }) => arm.split("-lr-")[1]))
    for (const others of rates) assert.deepStrictEqual(others, rates[0])
    assert.isAtLeast(rates[0]?.length ?? 0, 3)
  })
})

describe("the banks", () => {
  const isUseful = ({ direction }: ClauseBank.Clause) => direction === 1

  it("can be distinguished in an instruction", () => {
    for (const bank of [
      ClauseBank.clauses,
      ClauseBank.parted.learned,
      ClauseBank.parted.heldOut,
      Banks.unseen,
      Banks.noisy
    ])
      assert.deepStrictEqual(Schema.decodeSync(ClauseBank.Clauses)(bank), bank)
  })

  it("split the wordings: each is in exactly one part", () => {
    const texts = [...ClauseBank.parted.learned, ...ClauseBank.parted.heldOut].flatMap((clause) => clause.texts)
    assert.lengthOf(new Set(texts), texts.length)
    assert.deepStrictEqual(new Set(texts), new Set(ClauseBank.clauses.flatMap((clause) => clause.texts)))
  })

  it("have no wording of the shipped bank if they are unseen", () => {
    for (const text of Banks.unseen.flatMap((clause) => clause.texts)) assert.isEmpty(ClauseBank.clausesIn(text), text)
    assert.lengthOf(Banks.unseen.filter(isUseful), ClauseBank.clauses.filter(isUseful).length)
  })

  it("have five times as many useless and harmful clauses as the shipped bank if they are noisy", () => {
    const others = (bank: ReadonlyArray<ClauseBank.Clause>) => bank.filter((clause) => !isUseful(clause))
    assert.lengthOf(others(Banks.noisy), 5 * others(ClauseBank.clauses).length)
    assert.deepStrictEqual(Banks.noisy.filter(isUseful), ClauseBank.clauses.filter(isUseful))
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
