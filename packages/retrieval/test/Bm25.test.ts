import { assert, describe, it } from "@effect/vitest"
import { Search } from "@inspo/retrieval"
import { layerBm25, make } from "@inspo/retrieval/Bm25"
import { Effect, Schema } from "effect"

const Word = Schema.Literals(["ostrel", "Bay", "denco", "mills", "river", "Ulva", "é", "rises", "1862", "in"])
const Text = Schema.Array(Word)
const Texts = Schema.Array(Schema.Tuple([Text, Text]))

const toPassages = (texts: typeof Texts.Type) =>
  texts.map(([title, text], index) => ({ id: `p${index}`, title: title.join(" "), text: text.join(" ") }))

const search = (texts: typeof Texts.Type, query: string, topK: number) =>
  make(toPassages(texts)).pipe(
    Effect.flatMap(({ search }) => search([query], topK)),
    Effect.map(([results = []]) => results),
    Effect.scoped
  )

const fixture = [
  { id: "town", title: "Ostrel Bay", text: "Ostrel Bay was founded in 1862 and its mayor is Ira Volst." },
  { id: "person", title: "Ira Volst", text: "Ira Volst was born in Ostrel Bay and works at Denco Mills." },
  { id: "company", title: "Denco Mills", text: "Denco Mills was founded by Ira Volst and is based in Ostrel Bay." }
]

describe("make", () => {
  it.effect.prop(
    "gives at most topK passages, best first, ties in corpus order",
    [Texts, Text, Schema.Natural],
    (drawn) =>
      Effect.gen(function* () {
        const [texts, query, topK] = drawn
        const results = yield* search(texts, query.join(" "), topK)
        assert.isAtMost(results.length, topK)
        for (const [index, result] of results.entries()) {
          const next = results[index + 1]
          if (next === undefined) continue
          assert.isAtLeast(result.score, next.score)
          if (result.score === next.score) {
            assert.isBelow(Number(result.passage.id.slice(1)), Number(next.passage.id.slice(1)))
          }
        }
      })
  )

  it.effect.prop(
    "finds the passages that share a word with the query, and no others",
    [Texts, Text],
    ([texts, query]) =>
      Effect.gen(function* () {
        const results = yield* search(texts, query.join(" "), texts.length + 1)
        const expected = toPassages(texts).filter((_, index) =>
          query.some((word) => texts[index]?.some((part) => part.includes(word)))
        )
        assert.sameDeepMembers(
          results.map((result) => result.passage),
          expected
        )
      })
  )

  it.effect.prop("does not see the order, the case or the punctuation of the query", [Texts, Text], ([texts, query]) =>
    Effect.gen(function* () {
      const results = yield* search(texts, query.join(" "), 3)
      assert.deepStrictEqual(yield* search(texts, query.join("?! ").toUpperCase(), 3), results)
      const ids = (yield* search(texts, query.toReversed().join(" "), texts.length)).map(({ passage }) => passage.id)
      assert.sameMembers(
        ids,
        (yield* search(texts, query.join(" "), texts.length)).map(({ passage }) => passage.id)
      )
    })
  )

  it.effect("does not see diacritics either", () =>
    Effect.gen(function* () {
      const { search } = yield* make([{ id: "a", title: "Café Müller", text: "İzmir" }])
      for (const query of ["cafe", "CAFÉ", "cafe\u0301", "muller", "izmir", "IZMIR"])
        assert.lengthOf((yield* search([query], 1))[0] ?? [], 1, query)
    }).pipe(Effect.scoped)
  )

  it.effect.prop("never fails, whatever the query", [Schema.String, Schema.Int], ([query, topK]) =>
    Effect.gen(function* () {
      const { search } = yield* make(fixture)
      const odd = [query, `"${query}`, `${query}\0"`, `title:${query}*`, `NEAR(${query}) AND NOT -`]
      assert.lengthOf(yield* search(odd, topK), odd.length)
    }).pipe(Effect.scoped)
  )

  it.effect("gives nothing for queries without a word, and takes very long ones", () =>
    Effect.gen(function* () {
      const { search } = yield* make(fixture)
      const empty = ["", " \n", "\0", '"', "?!", '"" ""', "\ud800", "( ) * ^ :"]
      assert.deepStrictEqual(
        yield* search(empty, 3),
        empty.map(() => [])
      )
      const long = Array.from({ length: 20_000 }, (_, index) => `w${index}`).join(" ")
      const [results] = yield* search([`${long} volst`], 1)
      assert.strictEqual(results?.[0]?.passage.id, "person")
    }).pipe(Effect.scoped)
  )
})

describe("layerBm25", () => {
  it.effect("ranks the passage of a title first, and answers queries in order", () =>
    Effect.gen(function* () {
      const { search } = yield* Search
      const results = yield* search(["denco mills", "Ostrel Bay?", "nobody", "Who is Ira Volst?"], 1)
      assert.deepStrictEqual(
        results.map((found) => found.map(({ passage }) => passage.id)),
        [["company"], ["town"], [], ["person"]]
      )
    }).pipe(Effect.provide(layerBm25(fixture)))
  )
})
