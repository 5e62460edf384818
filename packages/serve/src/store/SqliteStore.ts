/** Populations in files: `DIRECTORY/NAME/journal.sqlite`, for one process. */
import { Journal, JournalError, type Mode } from "@inspo/journal"
import * as sqlite from "@inspo/journal/sqlite"
import { Context, Effect, FileSystem, Layer, Path, type PlatformError, Schema } from "effect"
import { PopulationName } from "../wire/Name.ts"
import { PopulationStore } from "./PopulationStore.ts"

/** Keeps populations below a directory, which is made where it is missing. */
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
      // A removal that was cut short is finished.
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
          // From here on it is gone, also where the process dies.
          yield* attempt(fs.rename(place(name), place(`${removed}${name}`)))
          yield* attempt(discard(`${removed}${name}`))
        })
      }
    })
  )

/** No name of a population begins so. */
const removed = ".removed-"

const isName = Schema.is(PopulationName)

const unusable = (file: string, cause: PlatformError.PlatformError): JournalError =>
  new JournalError({
    reason: "storage",
    file,
    sequence: null,
    detail: `${cause.message}; check that it can be written`,
    cause
  })
