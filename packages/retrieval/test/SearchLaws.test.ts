import { assert, describe, it } from "@effect/vitest"
import { Law } from "@inspo/domain/testing"
import { type Search, SearchError } from "@inspo/retrieval"
import * as Bm25 from "@inspo/retrieval/Bm25"
import { SearchLaws } from "@inspo/retrieval/testing"
import { Effect } from "effect"

type Bug = (search: Search.Interface["search"]) => Search.Interface["search"]

/** For each law a search that breaks it, and no other. */
const bugs: Readonly<Record<string, Bug>> = {
  "every query gets its list, in order, the same alone as among others": (search) => (queries, topK) =>
    Effect.map(search(queries, topK), (lists) => lists.toReversed()),
  "a list has at most topK passages, best first": (search) => (queries, topK) =>
    Effect.map(search(queries, topK), (lists) => lists.map((list) => list.toReversed())),
  "a list holds passages as they are in the corpus, each once": (search) => (queries, topK) =>
    Effect.map(search(queries, topK), (lists) =>
      lists.map((list) => list.map(() => list[0]).filter((first) => first !== undefined))
    ),
  "a query that holds nothing to match gets an empty list": (search) => (queries, topK) =>
    search(
      queries.map((query) => query.trim() || "ostrel bay É 1862 in"),
      topK
    ),
  "no query fails, whatever it holds": (search) => (queries, topK) =>
    queries.some((query) => query.endsWith("NOT -"))
      ? Effect.fail(new SearchError({ operation: "search", reason: "syntax error" }))
      : search(queries, topK)
}

describe("the laws of a search find a planted bug", () => {
  it.effect.each(SearchLaws.laws((passages) => Bm25.make(passages)).map(({ name }) => name))("%s", (name) =>
    Effect.gen(function* () {
      const bug = bugs[name] ?? assert.fail("no bug is planted")
      const laws = SearchLaws.laws((passages) =>
        Effect.map(Bm25.make(passages), ({ search }) => ({ search: bug(search) }))
      )
      assert.deepStrictEqual(
        (yield* Law.broken(laws)).map(({ law }) => law),
        [name]
      )
    })
  )
})
