import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ModelConfig, ModelFolder, TokenizerFiles } from "@inspo/engine-local"
import * as LocalEngine from "@inspo/engine-local"
import { fromFiles } from "@inspo/engine/HuggingFaceTokenizer"
import { Effect, Layer } from "effect"

const words = "The mayor of Ostrel Bay is Marlen Tovik . ? Who was the teacher born in Question Answer".split(" ")

export const tokenizerFiles = TokenizerFiles.makeTokenizerFiles(words)

export const config: ModelConfig.ModelConfig = {
  vocabulary: fromFiles(tokenizerFiles).vocabularySize,
  width: 32,
  layers: 2,
  heads: 4,
  keyValueHeads: 1,
  feedForward: 2,
  context: 160
}

/** As large as the model that ships, but for the vocabulary. */
export const shippedSize: ModelConfig.ModelConfig = { ...config, width: 96, layers: 3, feedForward: 4, context: 320 }

/** A folder that is removed with the scope. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "inspo-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** An engine on a small random model; sharper than initial weights are, so that samples differ in likelihood. */
export const layer = (options: Partial<LocalEngine.LocalEngineOptions> = {}, model: ModelConfig.ModelConfig = config) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const parameters = ModelConfig.initialParameters(model, "test").map((value) => 1.5 * value)
      yield* ModelFolder.write(folder, { name: "random", model, parameters, tokenizerFiles })
      return LocalEngine.layer({
        workers: 2,
        rows: 8,
        checkpoints: join(folder, "checkpoints"),
        ...options,
        model: folder
      })
    })
  )
