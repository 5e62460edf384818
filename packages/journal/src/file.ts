import { Effect, Layer, type Scope } from "effect"
import * as FileContents from "./internal/fileContents.ts"
import * as FileLedger from "./internal/fileLedger.ts"
import type { Format } from "./internal/fileLines.ts"
import type { Failures } from "./internal/fileLock.ts"
import * as FileRecords from "./internal/fileRecords.ts"
import * as FileStore from "./internal/fileStore.ts"
import { Journal, JournalError, type Mode } from "./Journal.ts"

/** `continue` opens a file that is there, and creates one that is not. `format` is what the file says that it is, if not a journal. */
export interface Options {
  readonly file: string
  readonly mode: Mode | "continue"
  readonly format?: Format
}

/** A journal, and the bytes of a last line that a crash cut off before it was acknowledged: the next write takes its place. */
export interface FileJournal extends Journal.Interface {
  readonly torn: number
}

/**
 * A journal in one file of text, without a database: each write is a line of JSON, and the hash of each line covers all lines before it.
 *
 * **Details**
 *
 * A file that is no journal is refused, and never changed. The lock follows the file, whatever names it has.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { Journal } from "@inspo/journal"
 * import { layer } from "@inspo/journal/file"
 *
 * const events = Journal.use((journal) => journal.read).pipe(
 *   Effect.provide(layer({ file: "events.jsonl", mode: "read-only" }))
 * )
 * ```
 */
export const layer = (options: Options): Layer.Layer<Journal, JournalError> => Layer.effect(Journal, open(options))

/** A journal that lasts as long as the layer: for tests, and for work that nobody wants to keep. */
export const layerMemory: Layer.Layer<Journal> = Layer.orDie(
  Layer.effect(
    Journal,
    Effect.suspend(() => {
      const failures = failuresOf(":memory:")
      return Effect.map(FileContents.kept(failures, journalFormat, FileStore.memory()), (contents) =>
        make(failures, contents)
      )
    })
  )
)

const journalFormat: Format = { name: "inspo-journal", version: 1, of: "a journal" }

/** Opens the file of a journal until the scope closes. */
export const open = Effect.fn("FileJournal.open")(function* ({
  file,
  format = journalFormat,
  mode
}: Options): Effect.fn.Return<FileJournal, JournalError, Scope.Scope> {
  const failures = failuresOf(file)
  if (mode === "read-only")
    return make(failures, FileContents.followed(failures, format, yield* FileStore.reading(failures)))
  const store = yield* FileStore.writing(failures, mode !== "open")
  const contents = yield* FileContents.kept(failures, format, store)
  const isEmpty = (yield* contents.state).end.bytes === 0
  if (mode === "create" && !isEmpty)
    return yield* failures.error("exists", "the file exists already; continue it, or name another one")
  if (mode === "open" && isEmpty) return yield* failures.error("missing", "the file is empty; no journal has begun")
  return make(failures, contents)
})

const failuresOf = (file: string): Failures => {
  const error: Failures["error"] = (reason, detail, sequence = null, cause) =>
    new JournalError({ reason, file, sequence, detail, ...(cause === undefined ? {} : { cause }) })
  return {
    file,
    error,
    attempt: (run) =>
      Effect.tryPromise({
        try: run,
        catch: (cause) => error("storage", cause instanceof Error ? cause.message : String(cause), null, cause)
      })
  }
}

const make = (failures: Failures, contents: FileContents.FileContents): FileJournal => {
  const commit = FileRecords.commit(failures, contents)
  const readFrom: Journal.Interface["readFrom"] = Effect.fn("Journal.readFrom")(function* (sequence, limit) {
    const { damage, events } = yield* contents.load
    if (damage !== null) return yield* damage
    return events.slice(sequence, limit === undefined ? undefined : sequence + limit)
  })
  return {
    meta: { file: failures.file, journalVersion: contents.version },
    torn: contents.torn,
    append: (events) => commit(events, []),
    putRecords: (kind, step, rows) => commit([], [{ kind, step, rows }]),
    commit,
    read: readFrom(0),
    readFrom,
    readIntact: Effect.map(contents.load, ({ damage, events }) => ({ events, damage })),
    ...FileRecords.make(contents),
    ...FileLedger.make(failures, contents)
  }
}
