import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { join, local, Presets, type RunConfig } from "@inspo/config"
import { Effect, FileSystem, Layer } from "effect"
import { algorithm, runOn } from "../../../../packages/coevolution/test/support/ScriptedRun.ts"
import { layerJournal } from "../../src/runDirectory/JournalLayer.ts"
import { readOutcome } from "../../src/runDirectory/Outcome.ts"
import { readRun } from "../../src/runDirectory/Read.ts"
import { readConfig, writeConfig } from "../../src/runDirectory/ConfigFile.ts"

const { randomSeed: _, ...withoutSeed } = Presets.quick

describe("the config of a run", () => {
  it.effect("is read as it was written", () =>
    Effect.gen(function* () {
      const directory = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
      yield* writeConfig(directory, Presets.quick)
      assert.deepStrictEqual(yield* readConfig(directory), Presets.quick)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect.each([
    [
      "with a value of another version",
      { ...Presets.quick, randomSeed: "one" },
      /randomSeed is "one"; expected .*number/u
    ],
    ["without a setting", withoutSeed, /randomSeed is missing; expected .+/u],
    [
      "with a setting of another version",
      { ...Presets.quick, population: { ...Presets.quick.population, archive: 3 } },
      /population\.archive is 3; expected no such setting/u
    ]
  ] as const)("is refused %s, with the setting, the value, what is expected and the remedy", ([, stored, problem]) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${directory}/config.json`, JSON.stringify(stored))
      const { message } = yield* Effect.flip(readConfig(directory))
      assert.match(message, problem)
      assert.include(message, "Start the run again, or use the version of inspo that wrote it")
      assert.notInclude(message, "undefined")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

describe("a run", () => {
  it.live("is not read under settings that decide results and were changed since", () =>
    Effect.gen(function* () {
      const directory = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
      const config = join(algorithm, local)
      yield* writeConfig(directory, config)
      yield* runOn(algorithm, Layer.orDie(layerJournal(directory, config, "create")))
      const readUnder = (changed: Partial<RunConfig>) =>
        Effect.andThen(writeConfig(directory, { ...config, ...changed }), readRun(directory))
      assert.isTrue((yield* readUnder({ budget: { ...config.budget, rollouts: 1 } })).begun)
      const { message } = yield* Effect.flip(readUnder({ evaluation: { ...config.evaluation, select: "best" } }))
      assert.strictEqual(
        message,
        `${directory}/config.json: evaluation.select is "best", but was "last" when the run began. Set it back, or restore ` +
          "the file from a copy."
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("names the setting of a database that is not there", () =>
    Effect.gen(function* () {
      const journal = layerJournal("run", { ...local, journal: { url: "postgres://x@127.0.0.1:1/db" } }, "create")
      const { message, reason } = yield* Effect.flip(Effect.scoped(Layer.build(journal)))
      assert.match(message, /the database cannot be reached: .* \(journal\.url\)$/u)
      assert.strictEqual(reason, "storage")
    })
  )

  it.effect.each([
    ["em", { em: 17 }],
    ["rollouts", { rollouts: -5 }],
    ["ci95", { ci95: [-1, 2] }]
  ] as const)("has no outcome out of range: %s", ([field, wrong]) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const baseline = { method: "static", source: "run", rollouts: 36, em: 0.5, ci95: [0.1, 0.9], ...wrong }
      yield* fs.writeFileString(`${directory}/outcome.json`, JSON.stringify({ baseline, degraded: [] }))
      const { message } = yield* Effect.flip(readOutcome(directory))
      assert.include(message, "outcome.json is not a valid outcome")
      assert.include(message, `["baseline"]["${field}"]`)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
