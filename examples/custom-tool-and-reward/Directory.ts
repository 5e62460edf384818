import type { Question } from "@inspo/domain"
import { Tool } from "@inspo/rollout"
import { Effect } from "effect"

/**
 * A directory instead of a search engine: it finds articles only by the names in a query. A tool called `search` replaces
 * the included one; a tool of any other name is added to `rollout.tools`.
 */
export const directory = (articles: ReadonlyArray<Question.Passage>): Tool.Tool =>
  Tool.each("search", "<search> name</search> shows the article of that name.", (query) => {
    const article = articles.find(({ title }) => query.toLowerCase().includes(title.toLowerCase()))
    return article === undefined
      ? // The policy sees the reason, and may retry. A ToolFailure would mean that the directory itself is down.
        Effect.fail(new Tool.ToolRejection({ reason: "No article has that name." }))
      : Effect.succeed(article.text)
  })
