import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Presets } from "@inspo/config"
import { Effect, FileSystem } from "effect"
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
