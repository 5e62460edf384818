import type { Question } from "@inspo/domain"
import type { Search } from "@inspo/retrieval"
import { Array, Effect, Result } from "effect"
import { type Tool, ToolFailure } from "../Tool.ts"

/** The search tool: the passages that a retriever finds for each query, at most `topK`, as `show` writes them. */
export const make = (
  search: Search.Interface["search"],
  topK: number,
  show: (passages: ReadonlyArray<Question.Passage>) => string
): Tool => ({
  name: "search",
  description: "<search> query</search> looks a query up and shows the passages found.",
  run: (queries) =>
    search(queries, topK).pipe(
      Effect.mapError((cause) => new ToolFailure({ tool: "search", reason: cause.message, cause })),
      Effect.map(Array.map((passages) => Result.succeed(show(passages.map(({ passage }) => passage)))))
    )
})
