import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type { Tokenizer } from "@inspo/engine"
import { fromFiles, type TokenizerFiles } from "@inspo/engine/HuggingFaceTokenizer"
import { Effect, Schema } from "effect"
import * as Checkpoint from "./Checkpoint.ts"
import { ModelConfig } from "./model/ModelConfig.ts"

/** What `config.json` of a model folder holds. */
export const ModelDescription = Schema.Struct({ name: Schema.NonEmptyString, model: ModelConfig })
export interface ModelDescription extends Schema.Schema.Type<typeof ModelDescription> {}

/** A model as a folder holds it; `fingerprint` hashes weights and tokenizer. */
export interface Model extends ModelDescription {
  readonly parameters: Float32Array
  readonly tokenizer: Tokenizer
  readonly fingerprint: string
}

/** The model that ships with this package. */
export const shipped: string = join(import.meta.dirname, "..", "model")

/** Reads `config.json`, `model.safetensors`, `tokenizer.json` and `tokenizer_config.json` of a folder. */
export const read = Effect.fn("ModelFolder.read")(function* (
  folder: string
): Effect.fn.Return<Model, Checkpoint.CheckpointError> {
  const description = yield* readJson(join(folder, "config.json"), ModelDescription)
  const files: TokenizerFiles = {
    tokenizer: yield* readJson(join(folder, "tokenizer.json"), AnyObject),
    config: yield* readJson(join(folder, "tokenizer_config.json"), AnyObject)
  }
  const { parameters } = yield* Checkpoint.read(join(folder, "model.safetensors"), description.model)
  const tokenizer = yield* Effect.try({
    try: () => fromFiles(files),
    catch: (error) => unreadable(join(folder, "tokenizer.json"), error)
  })
  if (tokenizer.vocabularySize !== description.model.vocabulary) {
    return yield* new Checkpoint.CheckpointError({
      path: join(folder, "tokenizer.json"),
      reason: `${tokenizer.vocabularySize} tokens, but vocabulary in config.json is ${description.model.vocabulary}`
    })
  }
  return {
    ...description,
    parameters,
    tokenizer,
    fingerprint: createHash("sha256")
      .update(Checkpoint.hash(parameters))
      .update(JSON.stringify([description.model, files]))
      .digest("hex")
  }
})

/** Writes a folder that {@link read} accepts; returns the hash of the weights. */
export const write = Effect.fn("ModelFolder.write")(function* (
  folder: string,
  model: ModelDescription & { readonly parameters: Float32Array; readonly tokenizerFiles: TokenizerFiles }
): Effect.fn.Return<string, Checkpoint.CheckpointError> {
  const json = (name: string, value: object) =>
    Checkpoint.writeAtomically(join(folder, name), new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`))
  yield* json("config.json", { name: model.name, model: model.model })
  yield* json("tokenizer.json", model.tokenizerFiles.tokenizer)
  yield* json("tokenizer_config.json", model.tokenizerFiles.config)
  return yield* Checkpoint.write(join(folder, "model.safetensors"), model.model, {
    parameters: model.parameters,
    optimizer: null
  })
})

const AnyObject = Schema.Record(Schema.String, Schema.Unknown)

const readJson = <S extends Schema.ConstraintDecoder<unknown>>(path: string, schema: S) =>
  Effect.tryPromise({ try: () => readFile(path, "utf8"), catch: (error) => unreadable(path, error) }).pipe(
    Effect.flatMap((text) =>
      Schema.decodeEffect(Schema.fromJsonString(schema))(text).pipe(Effect.mapError((error) => unreadable(path, error)))
    )
  )

const unreadable = (path: string, cause: unknown): Checkpoint.CheckpointError =>
  new Checkpoint.CheckpointError({
    path,
    reason: `could not be read: ${cause instanceof Error ? cause.message : String(cause)}`,
    cause
  })
