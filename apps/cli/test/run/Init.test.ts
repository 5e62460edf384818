import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Ablations } from "@inspo/coevolution"
import { Presets } from "@inspo/config"
import { Console, Effect, FileSystem, Option, Schema } from "effect"
import { parse } from "yaml"
import { configKeys } from "../../src/config/ConfigKeys.ts"
import { fromInput } from "../../src/config/Input.ts"
import { leafPaths } from "../../src/config/Resolve.ts"
import { init } from "../../src/run/Init.ts"
import { JsonFlag } from "../../src/commands/handler.ts"

const silently = Effect.provideService(Console.Console, { ...console, log: () => {} })

describe("init", () => {
  it.effect("writes a config that reads as its preset, and writes over nothing unasked", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = `${yield* fs.makeTempDirectoryScoped()}/new`
      yield* init({ directory, preset: "paper", force: false, short: false, list: false })
      const file = `${directory}/config.yaml`
      const read = yield* fromInput({ preset: "quick", file: Option.some(file), set: [], seed: Option.none() })
      assert.deepStrictEqual(read, Presets.paper)
      assert.include(
        yield* fs.readFileString(`${directory}/config.schema.json`),
        "N_P: the largest number of instructions"
      )

      const refused = yield* Effect.flip(init({ directory, preset: "quick", force: false, short: false, list: false }))
      assert.include(refused.message, file)
      yield* init({ directory, preset: "quick", force: true, short: false, list: false })
      assert.include(yield* fs.readFileString(file), "as the preset quick has them")
      const unknown = yield* Effect.flip(init({ directory, preset: "quik", force: true, short: false, list: false }))
      assert.include(unknown.message, "Did you mean quick?")
    }).pipe(silently, Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect.each(Object.entries(Presets.byName))(
    "writes as many settings of %s as the tutorial says when asked for few",
    ([preset, config]) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const directory = yield* fs.makeTempDirectoryScoped()
        const printed: Array<string> = []
        yield* Effect.provideService(
          init({ directory, preset, force: false, short: true, list: false }),
          Console.Console,
          { ...console, log: (text: string) => printed.push(text) }
        )
        const file = `${directory}/config.yaml`
        const text = yield* fs.readFileString(file)
        const written = [...leafPaths(parse(text))]
        const tutorial = yield* fs.readFileString("docs/tutorial.md")
        assert.include(printed.join(""), `  ${written.length} settings of preset ${preset}`)
        assert.include(tutorial, `writes the first ${written.length}, with explanations`)
        assert.includeMembers(written, ["data.questions", "schedule.steps", "engine.url", "budget.usd"])
        const meanings = text.replaceAll(/^\s*# ?/gmu, "").replaceAll(/\s+/gu, " ")
        for (const { meaning, path } of configKeys) if (written.includes(path)) assert.include(meanings, meaning)
        assert.strictEqual(text.includes(`config.yaml --preset ${preset}`), preset !== "quick")
        const read = yield* fromInput({ preset, file: Option.some(file), set: [], seed: Option.none() })
        assert.deepStrictEqual(read, config)
      }).pipe(silently, Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("lists the presets, and writes nothing then", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const printed: Array<string> = []
      yield* init({ directory, preset: "quick", force: false, short: false, list: true }).pipe(
        Effect.provideService(JsonFlag, true),
        Effect.provideService(Console.Console, { ...console, log: (text: string) => printed.push(text) })
      )
      const { parts, presets } = Schema.decodeSync(Listed)(printed.join(""))
      assert.sameMembers(
        presets.map(({ preset }) => preset),
        Object.keys(Presets.byName)
      )
      assert.sameMembers(
        parts.map(({ part }) => part),
        [...Ablations.partNames]
      )
      assert.deepStrictEqual(yield* fs.readDirectory(directory), [])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

const Listed = Schema.fromJsonString(
  Schema.Struct({
    parts: Schema.Array(Schema.Struct({ part: Schema.String, remains: Schema.NonEmptyString })),
    presets: Schema.Array(Schema.Struct({ preset: Schema.String, purpose: Schema.NonEmptyString }))
  })
)
