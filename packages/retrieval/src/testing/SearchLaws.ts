/** The laws of every search. */
import type { Question } from "@inspo/domain"
import { Law } from "@inspo/domain/testing"
import { Arbitrary, Effect, Schema, type Scope } from "effect"
import type { Search } from "../Search.ts"
import * as Corpora from "./Corpora.ts"

/**
 * The laws of `Search`. `open` makes a search over a corpus, which closes with the scope. They say nothing of which passages are
 * relevant.
 */
export const laws = <E, R>(
  open: (passages: ReadonlyArray<Question.Passage>) => Effect.Effect<Search.Interface, E, R>,
  options?: Law.Options
): ReadonlyArray<Law.Law<Exclude<R, Scope.Scope>>> => {
  const forAll = (name: string, holds: (opened: Opened) => Effect.Effect<void, unknown>) =>
    Law.forAll(name, Arbitrary.schema(Case), options, ({ queries, texts, topK }) => {
      const passages = Corpora.toPassages(texts)
      return Effect.scoped(
        Effect.flatMap(open(passages), ({ search }) =>
          holds({ search, passages, queries: Corpora.toQueries(queries), topK })
        )
      )
    })
  return [
    forAll("every query gets its list, in order, the same alone as among others", ({ queries, search, topK }) =>
      Effect.gen(function* () {
        const together = yield* search(queries, topK)
        Law.same(together.length, queries.length, "the number of lists")
        for (const [index, query] of queries.entries())
          Law.same(yield* search([query], topK), [together[index]], `the list of query ${index} alone`)
      })
    ),

    forAll("a list has at most topK passages, best first", ({ queries, search, topK }) =>
      Effect.gen(function* () {
        for (const list of yield* search(queries, topK)) {
          Law.expect(list.length <= Math.max(0, topK), `${list.length} passages with topK ${topK}`)
          for (const [place, { score }] of list.entries())
            Law.expect(
              (list[place + 1]?.score ?? score) <= score,
              `passage ${place + 1} has a higher score than the one before`
            )
        }
      })
    ),

    forAll("a list holds passages as they are in the corpus, each once", ({ passages, queries, search }) =>
      Effect.gen(function* () {
        const known = new Map(passages.map((passage) => [passage.id, passage]))
        for (const list of yield* search(queries, passages.length)) {
          const ids = list.map(({ passage }) => passage.id)
          Law.same(ids.length, new Set(ids).size, "the number of passages")
          for (const { passage } of list) Law.same(passage, known.get(passage.id), `the passage ${passage.id}`)
        }
      })
    ),

    forAll("a query that holds nothing to match gets an empty list", ({ search }) =>
      Effect.gen(function* () {
        Law.same(
          yield* search(nothing, 3),
          nothing.map(() => []),
          "the lists"
        )
      })
    ),

    Law.forAll("no query fails, whatever it holds", Arbitrary.schema(Schema.String), options, (query) =>
      Effect.scoped(
        Effect.gen(function* () {
          const { search } = yield* open([{ id: "p0", title: "Ostrel Bay", text: "A town." }])
          const odd = [query, `"${query}`, `${query}\0"`, `title:${query}*`, `NEAR(${query}) AND NOT -`]
          Law.same((yield* search(odd, 3)).length, odd.length, "the number of lists")
        })
      )
    )
  ]
}

interface Opened extends Search.Interface {
  readonly passages: ReadonlyArray<Question.Passage>
  readonly queries: ReadonlyArray<string>
  readonly topK: number
}

const Case = Schema.Struct({
  texts: Corpora.Texts,
  queries: Corpora.Queries,
  topK: Schema.Int.check(Schema.isBetween({ minimum: -1, maximum: 5 }))
})

const nothing = ["", " \n", "\0", '"', "?!", '"" ""', "\ud800", "( ) * ^ :"]
