/** Reads served populations, from the directory of their server or their own. */
import { Journal } from "@inspo/journal"
import * as sqlite from "@inspo/journal/sqlite"
import { EvolutionStatus, Loading } from "@inspo/serve"
import { Array as Arr, Effect, FileSystem, Order, Path } from "effect"
import { commandFailure, fileFailure, usageError } from "../Failure.ts"

export interface Place {
  readonly name: string
  readonly directory: string
}

/** The populations of a directory: its own, or all of a server. Empty if it is something else, such as that of a run. */
export const find = Effect.fn("Served.find")(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const holds = (...parts: ReadonlyArray<string>) =>
    Effect.orElseSucceed(fs.exists(path.join(directory, ...parts)), () => false)
  if (yield* holds("config.json")) return []
  if (yield* holds("journal.sqlite")) return [{ name: path.basename(path.resolve(directory)), directory }]
  if (!(yield* holds("populations"))) return []
  const below = path.join(directory, "populations")
  const names = yield* Effect.mapError(fs.readDirectory(below), (cause) => fileFailure(below, "read", cause))
  const found = yield* Effect.filter(names, (name) => holds("populations", name, "journal.sqlite"))
  if (found.length === 0)
    return yield* commandFailure(`${below} has no population yet. Create one on the server first.`)
  return Arr.sort(found, Order.String).map((name): Place => ({ name, directory: path.join(below, name) }))
})

/** The single population of a directory; null if it has none. An error lists them if it has several. */
export const findOne = Effect.fnUntraced(function* (directory: string) {
  const found = yield* find(directory)
  const [first = null] = found
  if (found.length <= 1) return first
  const names = found.map((one) => one.directory)
  return yield* usageError(`${directory} has several populations. Name one: ${names.join(", ")}.`)
})

/** The log, oldest first, and the state after it. A server may write the journal meanwhile. */
export const read = (place: Place) =>
  Effect.gen(function* () {
    const journal = yield* Journal
    const status = yield* EvolutionStatus.open(journal)
    return {
      log: yield* Loading.events(journal),
      state: yield* Loading.state(journal),
      degraded: yield* status.degraded,
      skipped: yield* status.skipped,
      spentUsd: yield* EvolutionStatus.spentUsd(journal)
    }
  }).pipe(
    Effect.provide(sqlite.layer({ file: `${place.directory}/journal.sqlite`, mode: "read-only" }), { local: true })
  )
