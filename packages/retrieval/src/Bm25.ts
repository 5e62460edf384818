import { createHash } from "node:crypto"
import { DatabaseSync, type StatementSync } from "node:sqlite"
import type { Question } from "@inspo/domain"
import { Effect, Layer, type Scope } from "effect"
import { type ScoredPassage, Search, SearchError } from "./Search.ts"

/** `file` keeps the index on disk, and reuses it while the passages stay the same. */
export interface Options {
  readonly file?: string
}

/**
 * BM25 over titles and texts in an SQLite full-text index (FTS5), in memory unless `file` is given. Equal passages and
 * queries give equal results; passages of equal score come in corpus order.
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
 * const passages = [{ id: "a", title: "Ostrel Bay", text: "Ostrel Bay lies on the river Ulva Sedge." }]
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
  const file = options.file ?? ":memory:"
  const database = yield* Effect.acquireRelease(
    Effect.try({
      try: () => new DatabaseSync(file),
      catch: (cause) =>
        new SearchError({
          operation: "open",
          reason: `the index file ${file} cannot be opened; name a file in a writable folder, or none`,
          cause
        })
    }),
    (database) => Effect.sync(() => database.close())
  )
  const statement = yield* Effect.try({
    try: () => {
      build(database, passages)
      return database.prepare(select)
    },
    catch: (cause) =>
      new SearchError({
        operation: "open",
        reason: `the index ${file} cannot be built from ${passages.length} passages; remove the file if it is no index`,
        cause
      })
  })

  const search = Effect.fn("Search.search")(function* (queries: ReadonlyArray<string>, topK: number) {
    return yield* Effect.forEach(queries, (query) =>
      Effect.try({
        try: () => rank(statement, passages, query, topK),
        catch: (cause) =>
          new SearchError({ operation: "search", reason: `the query ${JSON.stringify(query)} failed`, cause })
      })
    )
  })
  return Search.of({ search })
})

/** How many matches in the text one match in the title is worth. */
export const titleWeight = 10

const select = `SELECT rowid, -bm25(passages, ${titleWeight}, 1) AS score FROM passages
  WHERE passages MATCH ? ORDER BY score DESC, rowid LIMIT ?`

const build = (database: DatabaseSync, passages: ReadonlyArray<Question.Passage>): void => {
  const hash = createHash("sha256").update(JSON.stringify(passages)).digest("hex")
  database.exec("CREATE TABLE IF NOT EXISTS corpus (hash TEXT NOT NULL)")
  if (database.prepare("SELECT hash FROM corpus").get()?.["hash"] === hash) return
  database.exec("BEGIN")
  database.exec("DROP TABLE IF EXISTS passages; DELETE FROM corpus")
  database.exec("CREATE VIRTUAL TABLE passages USING fts5(title, text, content='', tokenize='unicode61')")
  const insert = database.prepare("INSERT INTO passages (rowid, title, text) VALUES (?, ?, ?)")
  passages.forEach((passage, index) => insert.run(index, passage.title, passage.text))
  database.prepare("INSERT INTO corpus VALUES (?)").run(hash)
  database.exec("COMMIT")
}

const rank = (
  statement: StatementSync,
  passages: ReadonlyArray<Question.Passage>,
  query: string,
  topK: number
): ReadonlyArray<ScoredPassage> => {
  const expression = matchExpression(query)
  if (expression === null || topK < 1) return []
  return statement.all(expression, Math.floor(topK)).flatMap((row) => {
    const passage = passages[Number(row["rowid"])]
    return passage === undefined ? [] : [{ passage, score: Number(row["score"]) }]
  })
}

/** Every word of the query as a quoted FTS5 string, joined by OR; null when there is no word. */
const matchExpression = (query: string): string | null => {
  const words = new Set(query.toLowerCase().match(word))
  return words.size === 0 ? null : Array.from(words, (word) => `"${word}"`).join(" OR ")
}

// What unicode61 takes for the characters of a word, so that no quote, operator or NUL reaches the expression.
const word = /[\p{L}\p{N}\p{M}\p{Co}]+/gu
