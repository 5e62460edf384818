import { RunCatalog, CatalogError, type RunPlace, type RunSource, type Written } from "@inspo/dashboard/RunCatalog"
import { SearchCatalog, type SearchPlace } from "@inspo/dashboard"
import { Stored } from "@inspo/evolve/parts"
import { Context, Effect, FileSystem, Layer, Option, Path } from "effect"
import { loadData } from "../config/Data.ts"
import { filesOf } from "../runDirectory/Files.ts"
import { layerJournal } from "../runDirectory/JournalLayer.ts"
import { runNotes } from "../runDirectory/Outcome.ts"
import { readConfig } from "../runDirectory/ConfigFile.ts"
import * as Search from "../evolve/StoredSearch.ts"
import * as Trust from "../runDirectory/Trust.ts"
import { lastEvent, stepSeconds } from "../runDirectory/Timings.ts"

/** The runs and searches in and below directories: each that holds a config, or the events of a search, is one. */
export const layer = (
  directories: ReadonlyArray<string>
): Layer.Layer<RunCatalog | SearchCatalog, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
      const found = Effect.provideContext(find(directories), services)
      return Context.mergeAll(
        Context.make(RunCatalog, {
          find: Effect.map(found, (all) => all.flatMap((one) => (one.search === null ? [one.place] : []))),
          open: (place) => Effect.provideContext(open(place, services), services)
        }),
        Context.make(SearchCatalog, {
          find: Effect.map(found, (all) => all.flatMap(({ search }) => search ?? [])),
          read: ({ file }, before) =>
            Effect.mapError(Stored.read(file, before), ({ message }) => new CatalogError({ problem: message }))
        })
      )
    })
  )

/** How deep below a given directory a run may be: `runs/NAME` and its `baseline`. */
const depth = 2

const find = Effect.fnUntraced(function* (directories: ReadonlyArray<string>) {
  const path = yield* Path.Path
  const found = yield* Effect.forEach(directories, (directory) => below(path.resolve(directory), depth))
  // A stable sort leaves the baseline of a run behind it.
  const latest = found.flat().sort((a, b) => b.created - a.created)
  const taken = new Set<string>()
  return latest.flatMap(({ directory, search }) => {
    if (taken.has(directory)) return []
    taken.add(directory)
    const name = nameOf(path, directory)
    const slug = name.replaceAll(/[^\w.-]+/gu, "_")
    let id = slug
    for (let number = 2; taken.has(id); number++) id = `${slug}-${number}`
    taken.add(id)
    const place: RunPlace = { id, name, directory }
    return [{ place, search: search === null ? null : ({ id, name, ...search } satisfies SearchPlace) }]
  })
})

/** The name of a run directory; that of a baseline includes the name of its run. */
const nameOf = (path: Path.Path, directory: string): string => {
  const name = path.basename(directory)
  return name === "baseline" ? `${path.basename(path.dirname(directory))}/baseline` : name
}

/** The directory of a run or of a search; a baseline counts as created with its run. */
interface Found {
  readonly directory: string
  readonly created: number
  /** The file of a search; null for a run. */
  readonly search: Omit<SearchPlace, "id" | "name"> | null
}

const below = (
  directory: string,
  levels: number
): Effect.Effect<ReadonlyArray<Found>, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const { modified: created } = yield* stateOf(filesOf(directory).config)
    const search = created === null ? yield* searchIn(directory, levels === depth) : null
    if (search !== null) return [{ directory, created: search.at ?? 0, search }]
    const own = created === null ? [] : [{ directory, created, search }]
    if (levels === 0) return own
    const entries = yield* Effect.orElseSucceed(fs.readDirectory(directory), () => [])
    const children = yield* Effect.forEach(
      entries.filter((entry) => created === null || entry === "baseline"),
      (entry) => below(`${directory}/${entry}`, levels - 1),
      { concurrency: 8 }
    )
    return [...own, ...children.flat().map((child) => (created === null ? child : { ...child, created }))]
  })

/** The search of a directory, or of a file if the user named it; null if there is none. */
const searchIn = Effect.fnUntraced(function* (place: string, isNamed: boolean) {
  const file = yield* Search.find(place)
  if (file === null || (file === place && !isNamed)) return null
  const { modified, size } = yield* stateOf(file)
  return { file, version: `${size}:${modified}`, at: modified }
})

const open = Effect.fnUntraced(
  function* ({ directory }: RunPlace, services: Context.Context<FileSystem.FileSystem | Path.Path>) {
    const config = yield* readConfig(directory)
    // A page that refreshes by itself cannot ask.
    yield* Trust.ensureUnasked(directory, config, "read")
    const questions = yield* Effect.cached(
      loadData(config).pipe(
        Effect.map(
          ({ data }) =>
            new Map([...data.train, ...data.validation, ...data.test].map((question) => [question.id, question]))
        ),
        Effect.orElseSucceed(() => new Map())
      )
    )
    return {
      config,
      journal: layerJournal(directory, config, "read-only"),
      questions: Effect.provideContext(questions, services),
      notes: Effect.provideContext(runNotes(directory), services),
      written: Effect.provideContext(written(directory), services),
      seconds: Effect.provideContext(stepSeconds(directory), services)
    } satisfies RunSource
  },
  Effect.mapError(({ message }) => new CatalogError({ problem: message }))
)

/** Dated by the run's own timings: the times of files change when they are copied. */
const written = Effect.fnUntraced(function* (
  directory: string
): Effect.fn.Return<Written, never, FileSystem.FileSystem> {
  const { config, journal, outcome, timings } = filesOf(directory)
  const log = yield* stateOf(`${journal}-wal`)
  const states = [yield* stateOf(journal), log, yield* stateOf(outcome), yield* stateOf(timings)]
  const at = (yield* lastEvent(directory)) ?? (yield* stateOf(config)).modified
  return {
    version: states.map(({ modified, size }) => `${size}:${modified}`).join(" "),
    at,
    // Rollouts are stored on arrival, into the log of the journal, which only a writer keeps.
    alive: Math.max(at ?? 0, log.size > 0 ? (log.modified ?? 0) : 0) || null
  }
})

/** The bytes of a file, and when it was last changed in milliseconds since 1970; 0 and null when there is none. */
const stateOf = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.match(fs.stat(file), {
    onFailure: () => ({ size: 0, modified: null }),
    onSuccess: ({ mtime, size }) => ({
      size: Number(size),
      modified: Option.match(mtime, { onNone: () => null, onSome: (date) => date.getTime() })
    })
  })
})
