import { createHash } from "node:crypto"
import { mkdir, open, rename } from "node:fs/promises"
import { dirname } from "node:path"
import process from "node:process"
import * as RegularFile from "@inspo/domain/RegularFile"
import { Effect, Result, Schema } from "effect"
import type { AdamWState } from "./AdamW.ts"
import { type ModelConfig, parameterCount, parameterLayout } from "./model/ModelConfig.ts"
import * as Safetensors from "./Safetensors.ts"

/** Weights, flat in the order of `parameterLayout`, and the optimizer's state where there is one. */
export interface Checkpoint {
  readonly parameters: Float32Array
  readonly optimizer: AdamWState | null
}

/** A checkpoint that cannot be written or trusted. */
export class CheckpointError extends Schema.TaggedError<CheckpointError>()("CheckpointError", {
  path: Schema.String,
  reason: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return `checkpoint ${this.path}: ${this.reason}`
  }
}

/** SHA-256 of the weights, as little-endian float32 in the order of `parameterLayout`; hexadecimal. */
export const hash = (parameters: Float32Array): string =>
  createHash("sha256")
    .update(new Uint8Array(parameters.buffer, parameters.byteOffset, parameters.byteLength))
    .digest("hex")

/**
 * Writes a safetensors file with one tensor per parameter, and `adamw.first` and `adamw.second` of the optimizer. The
 * file appears under `path` only when all of it is on the disk; missing folders are made. Returns the weights' hash.
 */
export const write = Effect.fn("Checkpoint.write")(function* (
  path: string,
  config: ModelConfig,
  checkpoint: Checkpoint
): Effect.fn.Return<string, CheckpointError> {
  const { parameters, optimizer } = checkpoint
  const moments = (data: Float32Array, name: string) => ({ name, shape: [data.length], data })
  const weights = parameterLayout(config).map(({ name, shape, offset, size }) => ({
    name,
    shape,
    data: parameters.subarray(offset, offset + size)
  }))
  const hashes = { weights: hash(parameters), ...(optimizer === null ? {} : { optimizer: optimizerHash(optimizer) }) }
  const bytes = Safetensors.encode({
    metadata: {
      format: "inspo",
      ...hashes,
      ...(optimizer === null ? {} : { updates: String(optimizer.updates) })
    },
    tensors:
      optimizer === null
        ? weights
        : [...weights, moments(optimizer.first, "adamw.first"), moments(optimizer.second, "adamw.second")]
  })
  yield* writeAtomically(path, bytes)
  return hashes.weights
})

/**
 * Reads what {@link write} wrote. Fails when the file is missing, was made for another model, or holds other bits than
 * were written: its own hashes are checked, and `expected`, the hash `write` returned, where it is given.
 */
export const read = Effect.fn("Checkpoint.read")(function* (
  path: string,
  config: ModelConfig,
  expected?: string
): Effect.fn.Return<Checkpoint, CheckpointError> {
  const refuse = (reason: string) => new CheckpointError({ path, reason })
  const bytes = yield* Effect.tryPromise({
    try: () => RegularFile.readBytes(path),
    catch: (error) => failed(path, "read", error)
  })
  const content = Safetensors.decode(bytes)
  if (Result.isFailure(content)) return yield* refuse(`${content.failure.message}; the file is damaged`)
  const { metadata, tensors } = content.success
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]))

  const parameters = new Float32Array(parameterCount(config))
  for (const { name, shape, offset } of parameterLayout(config)) {
    const tensor = byName.get(name)
    if (tensor === undefined || tensor.shape.join() !== shape.join()) {
      const found = tensor === undefined ? "is missing" : `has shape [${tensor.shape.join(", ")}]`
      return yield* refuse(`tensor ${name} ${found}, expected [${shape.join(", ")}]; it belongs to another model`)
    }
    parameters.set(tensor.data, offset)
  }
  const actual = hash(parameters)
  if (actual !== metadata["weights"]) {
    return yield* refuse(`the weights hash to ${actual} but ${metadata["weights"]} was written; the file is damaged`)
  }
  if (expected !== undefined && actual !== expected) {
    return yield* refuse(`the weights hash to ${actual}, expected ${expected}; another checkpoint took its place`)
  }

  const first = byName.get("adamw.first")
  const second = byName.get("adamw.second")
  if (first === undefined || second === undefined) return { parameters, optimizer: null }
  const optimizer = { first: first.data, second: second.data, updates: Number(metadata["updates"]) }
  if (optimizerHash(optimizer) !== metadata["optimizer"]) {
    return yield* refuse("the optimizer's state does not match its hash; the file is damaged")
  }
  return { parameters, optimizer }
})

/** Writes a file in full or not at all, also after a power cut. Not interruptible: the next writer must not meet it half way. */
export const writeAtomically = (path: string, bytes: Uint8Array): Effect.Effect<void, CheckpointError> =>
  Effect.tryPromise({
    try: async () => {
      const partial = `${path}.partial`
      await mkdir(dirname(path), { recursive: true })
      await synced(partial, "w", (file) => file.writeFile(bytes))
      await rename(partial, path)
      // Windows refuses to bring a folder to the disk.
      if (process.platform !== "win32") await synced(dirname(path), "r", async () => {})
    },
    catch: (error) => failed(path, "write", error)
  }).pipe(Effect.uninterruptible)

const optimizerHash = ({ first, second, updates }: AdamWState): string =>
  createHash("sha256")
    .update(`${hash(first)} ${hash(second)} ${updates}`)
    .digest("hex")

const synced = async (
  path: string,
  flags: string,
  use: (file: Awaited<ReturnType<typeof open>>) => Promise<void>
): Promise<void> => {
  const file = await open(path, flags)
  try {
    await use(file)
    await file.sync()
  } finally {
    await file.close()
  }
}

const failed = (path: string, verb: "read" | "write", cause: unknown): CheckpointError =>
  new CheckpointError({
    path,
    reason: `could not be ${verb === "read" ? "read" : "written"}: ${cause instanceof Error ? cause.message : String(cause)}`,
    cause
  })
