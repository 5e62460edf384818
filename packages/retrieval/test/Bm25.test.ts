import { assert, describe, it } from "@effect/vitest"
import { Search } from "@inspo/retrieval"
import { layerBm25, make } from "@inspo/retrieval/Bm25"
import { SearchLaws } from "@inspo/retrieval/testing"
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
  for (const { check, name } of SearchLaws.laws((passages) => make(passages))) it.effect(name, () => check)

  it.effect.prop(
    "gives passages of equal score in corpus order",
    [Texts, Text, Schema.Natural],
    ([texts, query, topK]) =>
      Effect.gen(function* () {
        const results = yield* search(texts, query.join(" "), topK)
        for (const [index, { passage, score }] of results.entries()) {
          const next = results[index + 1]
          if (next?.score === score) assert.isBelow(Number(passage.id.slice(1)), Number(next.passage.id.slice(1)))
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

  it.effect("takes very long queries", () =>
    Effect.gen(function* () {
      const { search } = yield* make(fixture)
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
