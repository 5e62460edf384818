import { Context, Effect, Layer, Schema } from "effect"
import type { Question } from "@inspo/domain"

/** The retriever behind the policy's `search` action. */
export class Search extends Context.Service<Search, Search.Interface>()("@inspo/retrieval/Search") {}

export declare namespace Search {
  export interface Interface {
    /**
     * The best passages for each query, best first and at most `topK` of them, in the order of the queries. A query
     * that matches nothing, or holds nothing to match, gets an empty list.
     */
    readonly search: (
      queries: ReadonlyArray<string>,
      topK: number
    ) => Effect.Effect<ReadonlyArray<ReadonlyArray<ScoredPassage>>, SearchError>
  }
}

/** Finds nothing: for agents that do not search. */
export const layerNothing: Layer.Layer<Search> = Layer.succeed(Search, {
  search: (queries) => Effect.succeed(queries.map(() => []))
})

/** A passage with its relevance to the query; larger is better, and scores of different queries do not compare. */
export interface ScoredPassage {
  readonly passage: Question.Passage
  readonly score: number
}

/** The index or retriever could not be built, opened or asked; `reason` says why and how to fix it. */
export class SearchError extends Schema.TaggedError<SearchError>()("SearchError", {
  operation: Schema.Literals(["build", "open", "search"]),
  reason: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return `search ${this.operation}: ${this.reason}`
  }
}
