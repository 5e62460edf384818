/** Populations in SQLite: in the files `DIRECTORY/NAME/journal.sqlite`, for one process, or in memory. */
import { Journal, JournalError, type Mode } from "@inspo/journal"
import * as sqlite from "@inspo/journal/sqlite"
import { Context, Effect, FileSystem, Layer, Path, type PlatformError, Schema } from "effect"
import { PopulationName } from "../wire/Name.ts"
import { PopulationStore } from "./PopulationStore.ts"

/** Stores populations below a directory, which is created if it is missing. */
export const layer = (
  directory: string
): Layer.Layer<PopulationStore, JournalError, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    PopulationStore,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const place = (name: string) => path.join(directory, name)
      const fileOf = (name: string) => path.join(place(name), "journal.sqlite")
      const attempt = Effect.mapError((cause: PlatformError.PlatformError) => unusable(directory, cause))
      const discard = (name: string) => fs.remove(place(name), { recursive: true, force: true })

      const hold = (name: string, mode: Mode) =>
        Effect.map(Layer.build(sqlite.layer({ file: fileOf(name), mode })), Context.get(Journal))

      yield* attempt(fs.makeDirectory(directory, { recursive: true }))
      // An interrupted removal is completed.
      const left = (yield* attempt(fs.readDirectory(directory))).filter((name) => name.startsWith(removed))
      yield* attempt(Effect.forEach(left, discard, { discard: true }))

      return {
        names: attempt(
          Effect.flatMap(fs.readDirectory(directory), (entries) =>
            Effect.filter(entries.filter(isName), (name) => fs.exists(fileOf(name)))
          )
        ),
        make: Effect.fnUntraced(function* (name) {
          yield* attempt(fs.makeDirectory(place(name), { recursive: true }))
          return yield* hold(name, "create")
        }),
        open: (name) => hold(name, "open"),
        remove: Effect.fnUntraced(function* (name) {
          if (!(yield* attempt(fs.exists(place(name))))) return
          yield* attempt(discard(`${removed}${name}`))
          // From here on it is removed, even if the process dies.
          yield* attempt(fs.rename(place(name), place(`${removed}${name}`)))
          yield* attempt(discard(`${removed}${name}`))
        })
      }
    })
  )

/** Stores populations in memory as long as the layer lasts, also while they are not open: for tests and temporary servers. */
export const layerMemory: Layer.Layer<PopulationStore> = Layer.effect(
  PopulationStore,
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const journals = new Map<string, Journal.Interface>()
    const error = (name: string, reason: "exists" | "missing", detail: string) =>
      new JournalError({ reason, file: `:memory: ${name}`, sequence: null, detail })
    return {
      names: Effect.sync(() => Array.from(journals.keys())),
      make: Effect.fnUntraced(function* (name) {
        if (journals.has(name)) return yield* error(name, "exists", "it exists; choose another name")
        const journal = Context.get(yield* Layer.buildWithScope(Layer.fresh(sqlite.layerMemory), scope), Journal)
        journals.set(name, journal)
        return journal
      }),
      open: Effect.fnUntraced(function* (name) {
        const journal = journals.get(name)
        return journal ?? (yield* error(name, "missing", "it does not exist; create it"))
      }),
      remove: (name) => Effect.sync(() => void journals.delete(name))
    }
  })
)

/** A prefix that no name of a population has. */
const removed = ".removed-"

const isName = Schema.is(PopulationName)

const unusable = (file: string, cause: PlatformError.PlatformError): JournalError =>
  new JournalError({
    reason: "storage",
    file,
    sequence: null,
    detail: `${cause.message}; check that the directory is writable`,
    cause
  })
