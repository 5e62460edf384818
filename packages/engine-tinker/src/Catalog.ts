import { CheckpointRef } from "@inspo/engine"
import { Effect, FileSystem, Ref, Schema } from "effect"

/** Which checkpoint a path of the protocol stands for. */
export interface Catalog {
  readonly get: (path: string) => Effect.Effect<CheckpointRef | undefined>
  readonly put: (path: string, checkpoint: CheckpointRef) => Effect.Effect<void>
  readonly remove: (path: string) => Effect.Effect<void>
}

/** The file of a catalog cannot be read. */
export class CatalogError extends Schema.TaggedError<CatalogError>()("CatalogError", {
  file: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `checkpoints ${this.file}: ${this.reason}`
  }
}

type Entries = Readonly<Record<string, CheckpointRef>>

/** A catalog that ends with the process. */
export const memory: Effect.Effect<Catalog> = Effect.map(Ref.make<Entries>({}), (entries) =>
  fromRef(entries, () => Effect.void)
)

/** A catalog in a JSON file, read now when it is there and replaced with every change, so that it survives a restart. */
export const file = Effect.fn("Catalog.file")(function* (
  path: string
): Effect.fn.Return<Catalog, CatalogError, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const fail = (error: { readonly message: string }) => new CatalogError({ file: path, reason: error.message })
  const text = yield* fs.exists(path).pipe(
    Effect.flatMap((exists) => (exists ? fs.readFileString(path) : Effect.succeed("{}"))),
    Effect.mapError(fail)
  )
  const entries = yield* Ref.make(yield* Effect.mapError(decode(text), fail))
  const write = (now: Entries) =>
    Effect.andThen(
      fs.writeFileString(`${path}.partial`, `${JSON.stringify(now, null, 2)}\n`),
      fs.rename(`${path}.partial`, path)
    ).pipe(Effect.orDie)
  return fromRef(entries, write)
})

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, CheckpointRef)))

const fromRef = (entries: Ref.Ref<Entries>, write: (now: Entries) => Effect.Effect<void>): Catalog => {
  const change = (update: (now: Entries) => Entries) => Effect.flatMap(Ref.updateAndGet(entries, update), write)
  return {
    get: (path) => Effect.map(Ref.get(entries), (now) => now[path]),
    put: (path, checkpoint) => change((now) => ({ ...now, [path]: checkpoint })),
    remove: (path) => change((now) => Object.fromEntries(Object.entries(now).filter(([name]) => name !== path)))
  }
}
