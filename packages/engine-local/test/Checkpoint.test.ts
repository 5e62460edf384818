import { readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type AdamW, Checkpoint, ModelConfig, ModelFolder } from "@inspo/engine-local"
import { Effect, Fiber, Schema } from "effect"
import { config, temporaryFolder, tokenizerFiles } from "./fixtures.ts"

const parameters = ModelConfig.initialParameters(config, "checkpoint")
const optimizer: AdamW.AdamWState = {
  first: parameters.map((value) => value / 3),
  second: parameters.map((value) => value * value),
  updates: 17
}

describe("Checkpoint", () => {
  it.effect("restores weights and optimizer bit by bit, and leaves no other file", () =>
    Effect.gen(function* () {
      const folder = join(yield* temporaryFolder, "a", "b")
      const path = join(folder, "c.safetensors")
      for (const saved of [
        { parameters, optimizer },
        { parameters, optimizer: null }
      ]) {
        const hash = yield* Checkpoint.write(path, config, saved)
        assert.deepStrictEqual(yield* Checkpoint.read(path, config, hash), saved)
        assert.strictEqual(hash, Checkpoint.hash(parameters))
      }
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(folder)), ["c.safetensors"])
    }).pipe(Effect.scoped)
  )

  it.live("is whole after a write that was interrupted by one of the same path", () =>
    Effect.gen(function* () {
      const path = join(yield* temporaryFolder, "c.safetensors")
      for (let round = 0; round < 30; round++) {
        const first = yield* Effect.forkChild(Checkpoint.write(path, config, { parameters, optimizer }))
        yield* Effect.sleep(round / 5)
        yield* Fiber.interrupt(first)
        const hash = yield* Checkpoint.write(path, config, { parameters: optimizer.first, optimizer: null })
        assert.strictEqual(Checkpoint.hash((yield* Checkpoint.read(path, config, hash)).parameters), hash)
      }
    }).pipe(Effect.scoped)
  )

  it.effect.prop(
    "finds every changed byte",
    [
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 - 1 })),
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 7 }))
    ],
    ([place, bit]) =>
      Effect.gen(function* () {
        const path = join(yield* temporaryFolder, "c.safetensors")
        yield* Checkpoint.write(path, config, { parameters, optimizer })
        const bytes = yield* Effect.promise(() => readFile(path))
        const at = place % bytes.length
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
        yield* Effect.promise(() => writeFile(path, bytes))
        const outcome = yield* Checkpoint.read(path, config).pipe(
          Effect.match({ onSuccess: (read) => read, onFailure: (error) => error })
        )
        // A changed byte of the header may be one that carries nothing, such as padding.
        if (outcome instanceof Checkpoint.CheckpointError) assert.include(outcome.message, path)
        else assert.deepStrictEqual(outcome, { parameters, optimizer })
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 50 } }
  )

  it.effect("says what is wrong: missing, another model's, another checkpoint's", () =>
    Effect.gen(function* () {
      const path = join(yield* temporaryFolder, "c.safetensors")
      const reason = (read: Effect.Effect<unknown, Checkpoint.CheckpointError>) =>
        Effect.map(Effect.flip(read), (e) => e.reason)
      assert.match(yield* reason(Checkpoint.read(path, config)), /could not be read: ENOENT/)
      yield* Checkpoint.write(path, config, { parameters, optimizer: null })
      assert.match(yield* reason(Checkpoint.read(path, config, "f00")), /expected f00/)
      assert.match(
        yield* reason(Checkpoint.read(path, { ...config, layers: 3 })),
        /tensor qkv2 is missing, expected \[32, 48\]/
      )
      assert.match(
        yield* reason(Checkpoint.read(path, { ...config, context: 8 })),
        /tensor pos has shape \[160, 32\], expected \[8, 32\]/
      )
    }).pipe(Effect.scoped)
  )
})

describe("ModelFolder", () => {
  it.effect("reads what it writes; the fingerprint follows weights and tokenizer", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const write = (values: Float32Array) =>
        ModelFolder.write(folder, { name: "tiny", model: config, parameters: values, tokenizerFiles })
      assert.strictEqual(yield* write(parameters), Checkpoint.hash(parameters))
      const model = yield* ModelFolder.read(folder)
      assert.deepStrictEqual([model.name, model.model, model.parameters], ["tiny", config, parameters])
      assert.strictEqual((yield* ModelFolder.read(folder)).fingerprint, model.fingerprint)
      yield* write(optimizer.first)
      assert.notStrictEqual((yield* ModelFolder.read(folder)).fingerprint, model.fingerprint)
    }).pipe(Effect.scoped)
  )

  it.effect("names the file that does not fit", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const message = Effect.map(Effect.flip(ModelFolder.read(folder)), (error) => error.message)
      assert.match(yield* message, /config\.json: could not be read/)
      yield* ModelFolder.write(folder, { name: "tiny", model: config, parameters, tokenizerFiles })
      yield* Effect.promise(() => writeFile(join(folder, "tokenizer_config.json"), "{}"))
      assert.match(yield* message, /chat_template/)
    }).pipe(Effect.scoped)
  )
})
