import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { EngineLaws } from "@inspo/engine/testing"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import * as TinkerEngine from "@inspo/engine-tinker"
import { Effect, FileSystem, Layer } from "effect"
import { ChildProcess } from "effect/process"
import * as Foreign from "./support/Foreign.ts"
import { serving, tinyModel } from "./support/Torch.ts"

describe.skipIf(Foreign.problem !== null)("the trainer of the studies", () => {
  it.live(
    "is an engine that holds to the laws",
    () =>
      Effect.gen(function* () {
        const folder = yield* tinyModel
        const args = ["--model", folder, "--out", join(folder, "served"), "--dtype", "float32"]
        const url = yield* serving("engine.py", args)
        const tokenizer = yield* HuggingFaceTokenizer.read(folder)
        const context = yield* Layer.build(TinkerEngine.layer({ url, tokenizer }))
        for (const { check } of EngineLaws.laws({ tolerance: 1e-4 })) yield* Effect.provideContext(check, context)
      }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, NodeHttpClient.layerUndici])),
    300_000
  )

  it.live(
    "trains several adapters in one batch, each as PEFT does",
    () =>
      Effect.gen(function* () {
        const program = ChildProcess.make(Foreign.python, [sameAsPeft, yield* tinyModel], { stderr: "inherit" })
        assert.strictEqual(yield* (yield* program).exitCode, 0)
        Foreign.record({
          software: "PEFT",
          package: "peft",
          what: "adapters of several models in one batch, equal to those that it trains"
        })
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    300_000
  )

  it.live(
    "makes the runs of the study side by side, and continues where it was stopped",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* tinyModel
        const out = `${folder}/study`
        const flags =
          "--seeds 1,2 --servers 2 --runs 2 --dtype float32 --set schedule.steps=2 --set evaluation.questions=2"
        const study = Effect.fnUntraced(function* (arms: string) {
          const program = yield* ChildProcess.make(
            process.execPath,
            [letter, ...`--model ${folder} --out ${out} --results ${out}/results --arms ${arms} ${flags}`.split(" ")],
            { stdout: "ignore", stderr: "inherit" }
          )
          assert.strictEqual(yield* program.exitCode, 0)
          return yield* fs.readFileString(`${out}/trained-letter.md`)
        })
        // The rows of runs have the hash of the trained weights.
        const rows = (page: string) => page.split("\n").filter((line) => /\| [0-9a-f]{16} \|/u.test(line))
        const first = rows(yield* study("letter-static"))
        assert.lengthOf(first, 2)
        const all = rows(yield* study("letter-static,letter-evolved,letter-instruction-first"))
        assert.lengthOf(all, 6)
        assert.includeMembers(all, first)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    300_000
  )
})

const sameAsPeft = fileURLToPath(new URL("python/same_as_peft.py", import.meta.url))

const letter = fileURLToPath(new URL("../../research/studies/model/letter.ts", import.meta.url))
