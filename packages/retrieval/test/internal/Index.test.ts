import { assert, describe, it } from "@effect/vitest"
import { Effect, Order, Schema } from "effect"
import { Encoder } from "../../src/internal/encoder.ts"
import * as IndexReader from "../../src/internal/indexReader.ts"
import * as IndexWriter from "../../src/internal/indexWriter.ts"
import * as Storage from "../../src/internal/storage.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const Word = Schema.Literals(["a", "b", "c", "d", "e", "f"])
const Words = Schema.Array(Word)

type Corpus = ReadonlyArray<readonly [title: ReadonlyArray<string>, text: ReadonlyArray<string>]>

/** The formula, passage by passage and word by word. */
const bm25 = (corpus: Corpus, query: ReadonlyArray<string>) => {
  const count = (list: ReadonlyArray<string>, word: string) => list.filter((other) => other === word).length
  const mean = corpus.reduce((sum, [title, text]) => sum + title.length + text.length, 0) / Math.max(1, corpus.length)
  const words = [...new Set(query)].map((word) => ({
    word,
    holding: corpus.filter(([title, text]) => title.includes(word) || text.includes(word)).length
  }))
  const scores = corpus.map(([title, text], passage) => ({
    passage,
    score: words.reduce((score, { holding, word }) => {
      const weight = Math.max(Math.log((corpus.length - holding + 0.5) / (holding + 0.5)), 1e-6)
      const frequency = 10 * count(title, word) + count(text, word)
      const penalty = 1.2 * (1 - 0.75 + (0.75 * (title.length + text.length)) / mean)
      return frequency === 0 ? score : score + weight * ((frequency * 2.2) / (frequency + penalty))
    }, 0)
  }))
  const best = Order.combine(
    Order.mapInput(Order.flip(Order.Number), (hit: (typeof scores)[number]) => hit.score),
    Order.mapInput(Order.Number, (hit: (typeof scores)[number]) => hit.passage)
  )
  return scores.filter(({ score }) => score > 0).sort(best)
}

/** An index in memory, which is built in runs of a few postings. */
const indexOf = Effect.fnUntraced(function* (corpus: Corpus, postingsInMemory: number) {
  const storage = Storage.inMemory()
  const writer = IndexWriter.make(Storage.inMemory(), postingsInMemory)
  for (const [title, text] of corpus) writer.add(title.join(" "), text.join("-"))
  const encoder = new Encoder(storage, 0)
  const layout = yield* writer.end(encoder)
  encoder.flush()
  return IndexReader.make(storage, layout)
})

/** The same scores up to the order of additions, and each passage at a place where its score is. */
const same = (
  hits: ReturnType<ReturnType<typeof IndexReader.make>["search"]>,
  expected: ReturnType<typeof bm25>,
  topK: number
) => {
  const scoreOf = new Map(expected.map(({ passage, score }) => [passage, score]))
  assert.lengthOf(hits, Math.min(topK, expected.length))
  for (const [place, { passage, score }] of hits.entries()) {
    assert.approximately(score, expected[place]?.score ?? 0, 1e-9)
    assert.approximately(score, scoreOf.get(passage) ?? 0, 1e-9)
    const next = hits[place + 1]
    if (next?.score === score) assert.isBelow(passage, next.passage)
  }
}

describe("an index", () => {
  it.effect.prop(
    "ranks by the formula of BM25",
    [Schema.Array(Schema.Tuple([Words, Words])), Words, between(1, 30), between(1, 20)],
    ([corpus, query, topK, postingsInMemory]) =>
      Effect.gen(function* () {
        const index = yield* indexOf(corpus, postingsInMemory)
        same(index.search([...query, "unknown"].join(" "), topK), bm25(corpus, query), topK)
      })
  )

  it.effect.prop(
    "ranks by it over many blocks too, where most passages are dropped, and equal ones in corpus order",
    [Schema.Int, Schema.Array(between(0, 29)), between(1, 4)],
    ([seed, query, topK]) =>
      Effect.gen(function* () {
        let state = seed >>> 0
        const draw = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32
        const words = (most: number) =>
          Array.from({ length: Math.floor(draw() * most) }, () => `w${Math.floor(draw() ** 2 * 30)}`)
        const corpus = Array.from({ length: 2000 }, () => [words(3), words(9)] as const)
        const index = yield* indexOf(corpus, 1000)
        const asked = query.map((rank) => `w${rank}`)
        const hits = index.search(asked.join(" "), topK)
        same(hits, bm25(corpus, asked), topK)
        assert.deepStrictEqual(hits, index.search(asked.join(" "), corpus.length).slice(0, topK))
      }),
    { arbitrary: { runs: 40 } }
  )
})
