import { DatabaseSync } from "node:sqlite"
import type { Question } from "@inspo/domain"
import { Effect, Layer, type Scope } from "effect"
import * as IndexReader from "./internal/indexReader.ts"
import * as IndexWriter from "./internal/indexWriter.ts"
import { Search, SearchError } from "./Search.ts"

/** `postingsPerQuery` bounds the work of a query: see {@link postingsPerQuery}. */
export interface Options extends IndexReader.Options {}

export { postingsPerQuery, titleWeight } from "./internal/indexReader.ts"

/**
 * BM25 over titles and texts in an SQLite full-text index (FTS5), in memory; `CorpusIndex` is the same over a file. Equal passages and queries give equal
 * results; passages of equal score come in corpus order.
 *
 * A query is a set of words, any of which may match; case and diacritics do not count. A word of a title counts as
 * {@link titleWeight} of a text.
 *
 * @example
 * ```ts
 * import { Search } from "@inspo/retrieval"
 * import { layerBm25 } from "@inspo/retrieval/Bm25"
 * import { Effect } from "effect"
 *
 * const passages = [{ id: "a", title: "Ostrel Bay", text: "Ostrel Bay is on the river Ulva Sedge." }]
 * const found = Effect.flatMap(Search, ({ search }) => search(["Where is Ostrel Bay?"], 3)).pipe(
 *   Effect.provide(layerBm25(passages))
 * )
 * ```
 */
export const layerBm25 = (
  passages: ReadonlyArray<Question.Passage>,
  options: Options = {}
): Layer.Layer<Search, SearchError> => Layer.effect(Search, make(passages, options))

/** The service of {@link layerBm25}, for callers that hold many corpora at once; closes with the scope. */
export const make = Effect.fn("Bm25.make")(function* (
  passages: ReadonlyArray<Question.Passage>,
  options: Options = {}
): Effect.fn.Return<Search.Interface, SearchError, Scope.Scope> {
  const database = yield* Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(":memory:")),
    (database) => Effect.sync(() => database.close())
  )
  const attempt = <A>(operation: () => A) =>
    Effect.try({
      try: operation,
      catch: (cause) =>
        new SearchError({ operation: "open", reason: `no index can be built from ${passages.length} passages`, cause })
    })
  const writer = yield* attempt(() => {
    database.exec("BEGIN")
    return IndexWriter.make(database)
  })
  // One by one, so that a large corpus can be interrupted.
  yield* Effect.forEach(passages, ({ text, title }) => attempt(() => writer.add(title, text)), { discard: true })
  const reader = yield* attempt(() => {
    writer.end()
    database.exec("COMMIT")
    return IndexReader.make(database, options)
  })

  const search = Effect.fn("Search.search")(function* (queries: ReadonlyArray<string>, topK: number) {
    return yield* Effect.forEach(queries, (query) =>
      Effect.try({
        try: () =>
          reader.search(query, topK).flatMap(({ passage: place, score }) => {
            const passage = passages[place]
            return passage === undefined ? [] : [{ passage, score }]
          }),
        catch: (cause) =>
          new SearchError({ operation: "search", reason: `the query ${JSON.stringify(query)} failed`, cause })
      })
    )
  })
  return Search.of({ search })
})
