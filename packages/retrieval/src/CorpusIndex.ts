import { closeSync, fsyncSync, openSync } from "node:fs"
import type { Question } from "@inspo/domain"
import { Effect, FileSystem, Layer, Result, type Scope } from "effect"
import * as CorpusFile from "./internal/corpusFile.ts"
import { Encoder } from "./internal/encoder.ts"
import * as IndexFile from "./internal/indexFile.ts"
import * as IndexReader from "./internal/indexReader.ts"
import * as IndexWriter from "./internal/indexWriter.ts"
import * as Storage from "./internal/storage.ts"
import { Search, SearchError } from "./Search.ts"

export interface Options {
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
  const known = yield* summaryOf(file)
  const built = known?.key !== key
  if (built) yield* build(options, file, key)
  const summary = built ? yield* summaryOf(file) : known
  if (summary === null) return yield* noIndex(file, new Error("it was replaced while it was opened"))

  const index = Storage.inFile(yield* open(file, "r"))
  const rows = Storage.inFile(yield* Effect.mapError(open(corpus, "r"), ({ cause }) => unreadable(corpus, cause)))
  const reader = yield* Effect.try({
    try: () => IndexReader.make(index, summary.layout),
    catch: (cause) => noIndex(file, cause)
  })

  const read = (place: number): Question.Passage | null => {
    const [at = 0, length = 0] = new Float64Array(index.read(summary.lines + lineSize * place, lineSize).buffer)
    const line = Buffer.from(rows.read(at, length)).toString("utf8")
    return Result.getOrThrowWith(CorpusFile.parse(line), (found) => new Error(`its row is ${found}`))
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
  return { search, size: summary.layout.passages, built }
})

/** Changes whenever older indexes can no longer be read. */
const format = 5

/** Bytes of the place and the length of a row. */
const lineSize = 16

const build = Effect.fnUntraced(function* (options: Options, file: string, key: string) {
  const fs = yield* FileSystem.FileSystem
  const { corpus, onProgress = () => Effect.void } = options
  const [temporary, runs] = [`${file}.${process.pid}.tmp`, `${file}.${process.pid}.runs.tmp`]
  yield* Effect.gen(function* () {
    const { size } = yield* fs.stat(corpus)
    const descriptor = yield* open(temporary, "w")
    const encoder = new Encoder(Storage.inFile(descriptor), 0)
    const writer = IndexWriter.make(Storage.inFile(yield* open(runs, "w+")))
    IndexFile.begin(encoder)
    const lines = encoder.position
    yield* CorpusFile.forEachLine(
      corpus,
      ({ at, length, passage }) => {
        encoder.bytes(new Uint8Array(Float64Array.of(at, length).buffer))
        writer.add(passage.title, passage.text)
      },
      (bytes) => onProgress(bytes / Number(size))
    )
    const layout = yield* writer.end(encoder)
    if (layout.passages === 0) {
      return yield* new SearchError({
        operation: "build",
        reason: `${corpus} holds no passage; expected at least one row`
      })
    }
    IndexFile.end(encoder, { key, lines, layout })
    fsyncSync(descriptor)
  }).pipe(
    Effect.scoped,
    Effect.andThen(fs.rename(temporary, file)),
    Effect.ensuring(
      Effect.forEach([temporary, runs], (path) => Effect.ignore(fs.remove(path, { force: true })), { discard: true })
    ),
    Effect.catchTag("PlatformError", (cause) => Effect.fail(unreadable(corpus, cause)))
  )
})

/** What is known of an index; null where it has to be built. */
const summaryOf = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const exists = yield* fs.exists(file).pipe(Effect.mapError((cause) => noIndex(file, cause)))
  if (!exists) return null
  return yield* Effect.try({ try: () => IndexFile.summaryOf(file), catch: (cause) => noIndex(file, cause) })
})

const open = (file: string, flags: "r" | "w" | "w+") =>
  Effect.acquireRelease(
    Effect.try({
      try: () => openSync(file, flags),
      catch: (cause) =>
        new SearchError({
          operation: "open",
          reason: `the index ${file} cannot be opened; name a file in a writable folder as the index`,
          cause
        })
    }),
    (descriptor) => Effect.sync(() => closeSync(descriptor))
  )

const unreadable = (corpus: string, cause: unknown): SearchError =>
  new SearchError({ operation: "open", reason: `the corpus ${corpus} cannot be read; check the path`, cause })

const noIndex = (file: string, cause: unknown): SearchError =>
  new SearchError({
    operation: "open",
    reason: `${file} is not the index of a corpus; remove it, or name another file as the index`,
    cause
  })
