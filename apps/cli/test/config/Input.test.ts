import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Presets } from "@inspo/config"
import { TokenizerFiles } from "@inspo/engine-local"
import { Effect, FileSystem, Option } from "effect"
import { TestClock } from "effect/testing"
import { fromInput } from "../../src/config/Input.ts"

/** The day in the config of a run that starts on 4 July 2024, with a tokenizer whose chat template is `template`. */
const dayOf = (template: string, ...set: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const { config, tokenizer } = TokenizerFiles.makeTokenizerFiles(["Who"])
    yield* fs.writeFileString(`${folder}/tokenizer.json`, JSON.stringify(tokenizer))
    yield* fs.writeFileString(`${folder}/tokenizer_config.json`, JSON.stringify({ ...config, chat_template: template }))
    yield* TestClock.setTime(Date.UTC(2024, 6, 4, 23, 59))
    const { engine } = yield* fromInput({
      preset: "quick",
      file: Option.none(),
      set: ["engine.url=http://127.0.0.1:1", `engine.tokenizer=${folder}`, ...set],
      seed: Option.none()
    })
    return engine.date
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const dated = "{{ strftime_now('%d %b %Y') }}"

describe("fromInput", () => {
  it.effect("fixes the day that a chat template prints at the start, unless it is set", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* dayOf(dated), "2024-07-04")
      assert.strictEqual(yield* dayOf(dated, "engine.date=2020-02-29"), "2020-02-29")
    })
  )

  it.effect("leaves the day out where no prompt prints it", () =>
    Effect.gen(function* () {
      assert.isNull(yield* dayOf("{{ 'no day' }}"))
      assert.isNull(yield* dayOf(dated, "engine.url=null"))
    })
  )

  it.effect("takes the environment's texts from a file that names some of them, and refuses what is none", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = yield* fs.makeTempFileScoped()
      const read = (text: string) =>
        Effect.flatMap(fs.writeFileString(file, text), () =>
          fromInput({ preset: "quick", file: Option.none(), set: [`rollout.texts=${file}`], seed: Option.none() })
        )
      const { rollout } = yield* read("invalidAction: 'No.'\nseparator: ' | '")
      assert.deepStrictEqual(rollout.texts, {
        ...Presets.quick.rollout.texts,
        invalidAction: "No.",
        separator: " | "
      })
      for (const wrong of ["- a list", "invalid: 'No.'", "passage: 3"])
        assert.include((yield* Effect.flip(read(wrong))).message, "expected a YAML mapping of prompt, passage")
      assert.include((yield* Effect.flip(read("prompt: 'Answer {question}'"))).message, "a YAML mapping")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("refuses a day that is none", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(dayOf(dated, "engine.date=2023-02-29"))
      assert.include(error.message, "engine.date")
      assert.include(error.message, "a day written YYYY-MM-DD")
    })
  )
})
