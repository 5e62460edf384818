import type { Question } from "@inspo/domain"
import { Tool } from "@inspo/rollout"
import { Effect } from "effect"

/**
 * A directory in the place of a search engine: it finds articles by the names that a query holds, and nothing else. A tool
 * of the name `search` replaces the one that ships; any other name is added to `rollout.tools`.
 */
export const directory = (articles: ReadonlyArray<Question.Passage>): Tool.Tool =>
  Tool.each("search", "<search> name</search> shows the article of that name.", (query) => {
    const article = articles.find(({ title }) => query.toLowerCase().includes(title.toLowerCase()))
    return article === undefined
      ? // The policy is told, and may try again. A ToolFailure would say that the directory itself is down.
        Effect.fail(new Tool.ToolRejection({ reason: "No article has that name." }))
      : Effect.succeed(article.text)
  })
