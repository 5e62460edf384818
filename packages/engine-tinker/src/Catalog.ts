import { CheckpointRef } from "@inspo/engine"
import { Effect, FileSystem, Ref, Schema, Semaphore } from "effect"

/** A checkpoint and what was said of it when it was saved; times are in milliseconds since 1970. */
export const Entry = Schema.Struct({
  ...CheckpointRef.fields,
  /** Left out in catalogs that did not keep it. */
  savedAt: Schema.optionalKey(Schema.Int),
  /** Never when absent. */
  expiresAt: Schema.optionalKey(Schema.Int),
  /** The rank that the client of its model asked for. */
  loraRank: Schema.optionalKey(Schema.Int),
  metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
})
export interface Entry extends Schema.Schema.Type<typeof Entry> {}

/** Which checkpoint a path of the protocol names. */
export interface Catalog {
  readonly get: (path: string) => Effect.Effect<Entry | undefined>
  readonly put: (path: string, entry: Entry) => Effect.Effect<void>
  readonly remove: (path: string) => Effect.Effect<void>
  /** All by path, in the order in which they came. */
  readonly list: Effect.Effect<ReadonlyMap<string, Entry>>
}

/** The file of a catalog cannot be read. */
export class CatalogError extends Schema.TaggedError<CatalogError>()("CatalogError", {
  file: Schema.String,
  reason: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return `checkpoints ${this.file}: ${this.reason}`
  }
}

type Entries = ReadonlyMap<string, Entry>

/** A catalog that ends with the process. */
export const memory: Effect.Effect<Catalog> = Effect.map(
  Effect.all([Ref.make<Entries>(new Map()), Semaphore.make(1)]),
  ([entries, turn]) => fromRef(entries, turn, () => Effect.void)
)

/** A catalog in a JSON file, read now when it is there and replaced with every change, so that it survives a restart. */
export const file = Effect.fn("Catalog.file")(function* (
  path: string
): Effect.fn.Return<Catalog, CatalogError, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const fail = (cause: { readonly message: string }) => new CatalogError({ file: path, reason: cause.message, cause })
  const text = yield* fs.exists(path).pipe(
    Effect.flatMap((exists) => (exists ? fs.readFileString(path) : Effect.succeed("{}"))),
    Effect.mapError(fail)
  )
  const entries = yield* Ref.make<Entries>(new Map(Object.entries(yield* Effect.mapError(decode(text), fail))))
  const write = (now: Entries) =>
    Effect.andThen(
      fs.writeFileString(`${path}.partial`, `${JSON.stringify(Object.fromEntries(now), null, 2)}\n`),
      fs.rename(`${path}.partial`, path)
    ).pipe(Effect.orDie)
  return fromRef(entries, yield* Semaphore.make(1), write)
})

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, Entry)))

/** Changes are written one after the other, each to its end, since all of them go through one file. */
const fromRef = (
  entries: Ref.Ref<Entries>,
  turn: Semaphore.Semaphore,
  write: (now: Entries) => Effect.Effect<void>
): Catalog => {
  const change = (update: (now: Map<string, Entry>) => void) =>
    turn
      .withPermit(
        Effect.flatMap(
          Ref.updateAndGet(entries, (now) => {
            const next = new Map(now)
            update(next)
            return next
          }),
          write
        )
      )
      .pipe(Effect.uninterruptible)
  return {
    get: (path) => Effect.map(Ref.get(entries), (now) => now.get(path)),
    put: (path, entry) => change((now) => now.set(path, entry)),
    remove: (path) => change((now) => now.delete(path)),
    list: Ref.get(entries)
  }
}
