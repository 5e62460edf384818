import { rm } from "node:fs/promises"
import { basename, resolve } from "node:path"
import { type CheckpointRef, EngineError } from "@inspo/engine"
import { Effect } from "effect"
import * as AdamW from "../AdamW.ts"
import * as Checkpoint from "../Checkpoint.ts"
import type { ModelConfig } from "../model/ModelConfig.ts"

interface CheckpointsOptions {
  readonly config: ModelConfig
  readonly folder: string
  /** What is saved, and changed by `restore`. */
  readonly parameters: Float32Array
  readonly optimizer: AdamW.AdamWState
}

/** The checkpoints of an engine, in a folder. */
export const make = ({ config, folder, optimizer, parameters }: CheckpointsOptions) => ({
  save: Effect.fnUntraced(function* (name: string): Effect.fn.Return<CheckpointRef, EngineError> {
    if (!/^\w[\w.-]*$/.test(name))
      return yield* new EngineError({
        operation: "save",
        reason: `name ${JSON.stringify(name)} must consist of letters, digits, "_", "-" and "."`
      })
    const uri = `${name}.safetensors`
    const hash = yield* Checkpoint.write(resolve(folder, uri), config, { parameters, optimizer }).pipe(
      Effect.mapError(as("save"))
    )
    return { uri, hash }
  }),

  /** Changes the policy and its optimizer at once and as a whole; the optimizer is reset when "fresh". */
  restore: Effect.fnUntraced(function* ({ uri, hash }: CheckpointRef, kept: "saved" | "fresh") {
    const checkpoint = yield* Checkpoint.read(
      yield* inside(folder, uri, "restore"),
      config,
      hash === "" ? undefined : hash
    ).pipe(Effect.mapError(as("restore")))
    parameters.set(checkpoint.parameters)
    const saved = kept === "saved" ? checkpoint.optimizer : null
    AdamW.assign(optimizer, saved ?? AdamW.make(optimizer.first.length))
  }),

  remove: ({ uri }: CheckpointRef) =>
    Effect.flatMap(inside(folder, uri, "remove"), (file) =>
      Effect.tryPromise({
        try: () => rm(file, { force: true }),
        catch: (cause) => new EngineError({ operation: "remove", reason: `checkpoint ${uri}: ${String(cause)}`, cause })
      })
    )
})

/** The file of a checkpoint; a journal of another user's cannot lead out of the folder. */
const inside = (folder: string, uri: string, operation: EngineError["operation"]): Effect.Effect<string, EngineError> =>
  uri === basename(uri) && uri !== ".." && uri !== "."
    ? Effect.succeed(resolve(folder, uri))
    : Effect.fail(
        new EngineError({
          operation,
          reason: `checkpoint ${JSON.stringify(uri.slice(0, 200))} is not the name of a file in ${folder}; restore the journal from a copy`
        })
      )

const as = (operation: EngineError["operation"]) => (cause: Checkpoint.CheckpointError) =>
  new EngineError({ operation, reason: cause.message, cause })
