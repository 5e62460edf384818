import { closeSync, fsyncSync, openSync, readSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import type { Question } from "@inspo/domain"
import { Effect, FileSystem, Layer, Result, type Scope } from "effect"
import * as CorpusFile from "./internal/corpusFile.ts"
import * as IndexReader from "./internal/indexReader.ts"
import * as IndexWriter from "./internal/indexWriter.ts"
import { Search, SearchError } from "./Search.ts"

export interface Options extends IndexReader.Options {
  /** File of rows `{"id", "contents"}`, one JSON object per line, with the title on the first line of `contents`. */
  readonly corpus: string
  /** File of the index; `CORPUS.bm25` beside the corpus by default. */
  readonly index?: string
  /** Gets the share of the corpus that is indexed, from 0 to 1, while an index is built. */
  readonly onProgress?: (share: number) => Effect.Effect<void>
}

/** A search over a corpus file. */
export interface CorpusIndex extends Search.Interface {
  /** Number of passages. */
  readonly size: number
  /** Whether the index was built now, rather than found. */
  readonly built: boolean
}

/** Where the index of a corpus is unless another place is named. */
export const defaultFile = (corpus: string): string => `${corpus}.bm25`

/**
 * The search of `Bm25` over a corpus file of any size, with an index on disk. The index is built when it is missing or the
 * corpus has changed, in bounded memory, and comes into place as a whole; it is then only read. Passages are read from
 * the corpus, which has to stay where it is.
 */
export const layer = (options: Options): Layer.Layer<Search, SearchError, FileSystem.FileSystem> =>
  Layer.effect(Search, make(options))

/** The service of {@link layer} with what is known about the index; closes with the scope. */
export const make = Effect.fn("CorpusIndex.make")(function* (
  options: Options
): Effect.fn.Return<CorpusIndex, SearchError, Scope.Scope | FileSystem.FileSystem> {
  const { corpus } = options
  const file = options.index ?? defaultFile(corpus)
  const key = yield* CorpusFile.fingerprint(corpus).pipe(
    Effect.mapError((cause) => unreadable(corpus, cause)),
    Effect.map((fingerprint) => `${format} ${fingerprint}`)
  )
  const known = yield* keyOf(file)
  const built = known !== key
  if (built) yield* build(options, file, key)

  const database = yield* open(file, true)
  // Pages come from the system's cache without a copy.
  database.exec(`PRAGMA mmap_size = ${2 ** 40}`)
  const descriptor = yield* Effect.acquireRelease(
    Effect.try({ try: () => openSync(corpus, "r"), catch: (cause) => unreadable(corpus, cause) }),
    (descriptor) => Effect.sync(() => closeSync(descriptor))
  )
  const { reader, selectLine, size } = yield* Effect.try({
    try: () => ({
      reader: IndexReader.make(database, options),
      size: Number(database.prepare("SELECT passages FROM corpus").get()?.["passages"]),
      selectLine: database.prepare("SELECT at, length FROM lines WHERE passage = ?")
    }),
    catch: (cause) => noIndex(file, cause)
  })

  const read = (place: number): Question.Passage | null => {
    const line = selectLine.get(place)
    const buffer = Buffer.alloc(Number(line?.["length"] ?? 0))
    readSync(descriptor, buffer, 0, buffer.length, Number(line?.["at"] ?? 0))
    return Result.getOrThrowWith(CorpusFile.parse(buffer.toString("utf8")), (found) => new Error(`its row is ${found}`))
  }

  const search = Effect.fn("Search.search")(function* (queries: ReadonlyArray<string>, topK: number) {
    return yield* Effect.forEach(queries, (query) =>
      Effect.try({
        try: () =>
          reader.search(query, topK).flatMap(({ passage: place, score }) => {
            const passage = read(place)
            return passage === null ? [] : [{ passage, score }]
          }),
        catch: (cause) =>
          new SearchError({
            operation: "search",
            reason: `the query ${JSON.stringify(query)} failed on ${corpus}; start again if the corpus was changed meanwhile`,
            cause
          })
      })
    )
  })
  return { search, size, built }
})

/** Changes whenever older indexes can no longer be read. */
const format = 3

const build = Effect.fnUntraced(function* (options: Options, file: string, key: string) {
  const fs = yield* FileSystem.FileSystem
  const { corpus, onProgress = () => Effect.void } = options
  const temporary = `${file}.${process.pid}.tmp`
  yield* Effect.gen(function* () {
    const { size } = yield* fs.stat(corpus)
    const database = yield* open(temporary, false)
    database.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")
    database.exec("CREATE TABLE lines (passage INTEGER PRIMARY KEY, at INTEGER NOT NULL, length INTEGER NOT NULL)")
    const insertLine = database.prepare("INSERT INTO lines VALUES (?, ?, ?)")
    const writer = IndexWriter.make(database)
    let passages = 0
    yield* CorpusFile.forEachLine(
      corpus,
      ({ at, length, passage }) => {
        insertLine.run(passages++, at, length)
        writer.add(passage.title, passage.text)
      },
      (bytes) => onProgress(bytes / Number(size))
    )
    if (passages === 0) {
      return yield* new SearchError({
        operation: "build",
        reason: `${corpus} holds no passage; expected at least one row`
      })
    }
    writer.end()
    database.exec("CREATE TABLE corpus (key TEXT NOT NULL, passages INTEGER NOT NULL)")
    database.prepare("INSERT INTO corpus VALUES (?, ?)").run(key, passages)
    database.exec("COMMIT")
  }).pipe(
    Effect.scoped,
    Effect.andThen(Effect.sync(() => flushToDisk(temporary))),
    Effect.andThen(fs.rename(temporary, file)),
    Effect.onExit((exit) =>
      exit._tag === "Success" ? Effect.void : Effect.ignore(fs.remove(temporary, { force: true }))
    ),
    Effect.catchTag("PlatformError", (cause) => Effect.fail(unreadable(corpus, cause)))
  )
})

const flushToDisk = (file: string): void => {
  const descriptor = openSync(file, "r+")
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** The corpus that an index was built from; null where there is no index yet. */
const keyOf = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const exists = yield* fs.exists(file).pipe(Effect.mapError((cause) => noIndex(file, cause)))
  if (!exists) return null
  const database = yield* open(file, true)
  return yield* Effect.try({
    try: () => database.prepare("SELECT key FROM corpus").get()?.["key"] ?? null,
    catch: (cause) => noIndex(file, cause)
  })
}, Effect.scoped)

const open = (file: string, readOnly: boolean) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => new DatabaseSync(file, { readOnly }),
      catch: (cause) =>
        new SearchError({
          operation: "open",
          reason: `the index ${file} cannot be opened; name a file in a writable folder as the index`,
          cause
        })
    }),
    (database) => Effect.sync(() => database.close())
  )

const unreadable = (corpus: string, cause: unknown): SearchError =>
  new SearchError({ operation: "open", reason: `the corpus ${corpus} cannot be read; check the path`, cause })

const noIndex = (file: string, cause: unknown): SearchError =>
  new SearchError({
    operation: "open",
    reason: `${file} is not the index of a corpus; remove it, or name another file as the index`,
    cause
  })
