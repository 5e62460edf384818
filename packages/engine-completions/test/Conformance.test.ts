import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, it } from "@effect/vitest"
import { Engine } from "@inspo/engine"
import { EngineLaws, TabularEngine } from "@inspo/engine/testing"
import * as LocalEngine from "@inspo/engine-local"
import { Effect, Layer } from "effect"
import * as Served from "./support/Served.ts"

/** The model that ships; what it would save goes with the test. */
const embedded = Layer.unwrap(
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "inspo-completions-"))),
      (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
    ),
    (checkpoints) => LocalEngine.layer({ checkpoints, workers: 1 })
  )
)

const engines = {
  "a server like vLLM over a bigram model": Served.engine("vllm").pipe(
    Layer.provide(Layer.effect(Engine, TabularEngine.make))
  ),
  "a server like SGLang over a bigram model": Served.engine("sglang").pipe(
    Layer.provide(Layer.effect(Engine, TabularEngine.make))
  ),
  "a server like llama.cpp's over a bigram model": Served.engine("llama.cpp").pipe(
    Layer.provide(Layer.effect(Engine, TabularEngine.make))
  ),
  "a server like vLLM over the embedded model, which listens": Served.overHttp("vllm").pipe(Layer.provide(embedded))
}

describe("CompletionsEngine", () => {
  for (const [name, engine] of Object.entries(engines)) {
    it.layer(engine, { excludeTestServices: true })(`conforms behind ${name}`, (it) => {
      for (const law of EngineLaws.laws()) it.effect(law.name, () => law.check)
    })
  }
})
