import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Order, Schema } from "effect"
import * as IndexReader from "../../src/internal/indexReader.ts"
import * as IndexWriter from "../../src/internal/indexWriter.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const Word = Schema.Literals(["a", "b", "c", "d", "e", "f"])
const Words = Schema.Array(Word)

/** The formula, passage by passage and word by word. */
const bm25 = (corpus: ReadonlyArray<readonly [typeof Words.Type, typeof Words.Type]>, query: typeof Words.Type) => {
  const count = (list: ReadonlyArray<string>, word: string) => list.filter((other) => other === word).length
  const mean = corpus.reduce((sum, [title, text]) => sum + title.length + text.length, 0) / corpus.length
  const scores = corpus.map(([title, text], passage) => ({
    passage,
    score: [...new Set(query)].reduce((score, word) => {
      const holding = corpus.filter(([title, text]) => title.includes(word) || text.includes(word)).length
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

describe("an index", () => {
  it.prop(
    "ranks by the formula of BM25",
    [Schema.Array(Schema.Tuple([Words, Words])).check(Schema.isMinLength(1)), Words, between(1, 5)],
    ([corpus, query, topK]) => {
      const database = new DatabaseSync(":memory:")
      const writer = IndexWriter.make(database)
      for (const [title, text] of corpus) writer.add(title.join(" "), text.join("-"))
      writer.end()
      const hits = IndexReader.make(database).search(query.join(" "), topK)
      const expected = bm25(corpus, query).slice(0, topK)
      assert.deepStrictEqual(
        hits.map(({ passage }) => passage),
        expected.map(({ passage }) => passage)
      )
      hits.forEach(({ score }, i) => assert.approximately(score, expected[i]?.score ?? 0, 1e-12))
      database.close()
    }
  )

  it.prop(
    "searches for the rarest words that the budget lasts for, and for more until enough is found",
    [Schema.Array(Words).check(Schema.isMinLength(1)), Words, between(1, 5), between(0, 12)],
    ([texts, query, topK, postingsPerQuery]) => {
      const database = new DatabaseSync(":memory:")
      const writer = IndexWriter.make(database)
      for (const text of texts) writer.add("", text.join(" "))
      writer.end()
      const whole = IndexReader.make(database)
      const holding = (word: string) => texts.filter((text) => text.some((other) => other === word)).length
      const byRarity = [...new Set(query)].filter((word) => holding(word) > 0).sort((a, b) => holding(a) - holding(b))
      const cost = (count: number) => byRarity.slice(0, count).reduce((sum, word) => sum + holding(word), 0)
      const among = (count: number) =>
        whole.search(query.filter((word) => byRarity.slice(0, count).includes(word)).join(" "), topK)
      let count = Math.min(1, byRarity.length)
      while (count < byRarity.length && (cost(count + 1) <= postingsPerQuery || among(count).length < topK)) count++
      assert.deepStrictEqual(
        IndexReader.make(database, { postingsPerQuery }).search(query.join(" "), topK),
        among(count)
      )
      database.close()
    }
  )
})
