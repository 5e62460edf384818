/** The tools of every rollout; the config lists those that the agent may call. */
import type { Question } from "@inspo/domain"
import type { Search } from "@inspo/retrieval"
import { Array, Effect, Result } from "effect"
import * as Tool from "../Tool.ts"
import { evaluate } from "./Arithmetic.ts"

/** The search tool: the passages that a retriever finds for each query, at most `topK`, as `show` writes them. */
export const search = (
  search: Search.Interface["search"],
  topK: number,
  show: (passages: ReadonlyArray<Question.Passage>) => string
): Tool.Tool => ({
  name: "search",
  description: "<search> query</search> looks a query up and shows the passages found.",
  run: (queries) =>
    search(queries, topK).pipe(
      Effect.mapError((cause) => new Tool.ToolFailure({ tool: "search", reason: cause.message, cause })),
      Effect.map(Array.map((passages) => Result.succeed(show(passages.map(({ passage }) => passage)))))
    )
})

/** The calculator tool: `<calculate> 3 * (2 + 4)</calculate>` is answered by `18`. */
export const calculator: Tool.Tool = Tool.each(
  "calculate",
  "<calculate> 3 * (2 + 4)</calculate> works out an expression of numbers, + - * / and brackets.",
  (input) => Effect.fromResult(Result.mapError(evaluate(input), (reason) => new Tool.ToolRejection({ reason })))
)

/** The names of these tools. */
export const builtInTools: ReadonlyArray<string> = ["search", calculator.name]
