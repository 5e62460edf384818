import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Presets } from "@inspo/coevolution"
import { Console, Effect, FileSystem, Option } from "effect"
import { fromInput } from "../../src/config/Input.ts"
import { init } from "../../src/run/Init.ts"

const silently = Effect.provideService(Console.Console, { ...console, log: () => {} })

describe("init", () => {
  it.effect("writes a config that reads as its preset, and writes over nothing unasked", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = `${yield* fs.makeTempDirectoryScoped()}/new`
      yield* init({ directory, preset: "paper", force: false, json: false })
      const file = `${directory}/config.yaml`
      const read = yield* fromInput({ preset: "quick", file: Option.some(file), set: [], seed: Option.none() })
      assert.deepStrictEqual(read, Presets.paper)
      assert.include(yield* fs.readFileString(`${directory}/config.schema.json`), "N_P: how many instructions live")

      const refused = yield* Effect.flip(init({ directory, preset: "quick", force: false, json: false }))
      assert.include(refused.message, file)
      yield* init({ directory, preset: "quick", force: true, json: true })
      assert.include(yield* fs.readFileString(file), "as the preset quick has them")
      const unknown = yield* Effect.flip(init({ directory, preset: "quik", force: true, json: false }))
      assert.include(unknown.message, "Did you mean quick?")
    }).pipe(silently, Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
