import type { Question } from "@inspo/domain"
import { Effect, Layer } from "effect"
import { Encoder } from "./internal/encoder.ts"
import * as IndexReader from "./internal/indexReader.ts"
import * as IndexWriter from "./internal/indexWriter.ts"
import * as Storage from "./internal/storage.ts"
import { Search } from "./Search.ts"

export { titleWeight } from "./internal/formula.ts"

/**
 * BM25 over titles and texts in memory; `CorpusIndex` is the same over a file. Equal passages and queries give equal results;
 * passages of equal score come in corpus order.
 *
 * A query is a set of words, any of which may match; case and diacritics do not count. In scripts without spaces between words,
 * such as Chinese, Japanese and Thai, and in Korean, each character and each two in a row are words. A word of a title counts as
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
export const layerBm25 = (passages: ReadonlyArray<Question.Passage>): Layer.Layer<Search> =>
  Layer.effect(Search, make(passages))

/** The service of {@link layerBm25}, for callers that hold many corpora at once. */
export const make = Effect.fn("Bm25.make")(function* (
  passages: ReadonlyArray<Question.Passage>
): Effect.fn.Return<Search.Interface> {
  const index = Storage.inMemory()
  const writer = IndexWriter.make(Storage.inMemory())
  // One by one, so that a large corpus can be interrupted.
  yield* Effect.forEach(passages, ({ text, title }) => Effect.sync(() => writer.add(title, text)), { discard: true })
  const encoder = new Encoder(index, 0)
  const layout = yield* writer.end(encoder)
  encoder.flush()
  const reader = IndexReader.make(index, layout)

  return Search.of({
    search: Effect.fn("Search.search")((queries, topK) =>
      Effect.sync(() =>
        queries.map((query) =>
          reader.search(query, topK).flatMap(({ passage: place, score }) => {
            const passage = passages[place]
            return passage === undefined ? [] : [{ passage, score }]
          })
        )
      )
    )
  })
})
