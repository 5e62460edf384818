import { Effect, FileSystem, Path } from "effect"

/** The file of a search: in its directory, or given itself. Null if it is something else, such as the directory of a run. */
export const find = Effect.fn("Search.find")(function* (place: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const isFile = (one: string) =>
    Effect.orElseSucceed(
      Effect.map(fs.stat(one), ({ type }) => type === "File"),
      () => false
    )
  if (yield* isFile(place)) return place
  const file = path.join(place, "events.jsonl")
  const isThere = (one: string) => Effect.orElseSucceed(fs.exists(one), () => false)
  return (yield* isThere(file)) && !(yield* isThere(path.join(place, "config.json"))) ? file : null
})
