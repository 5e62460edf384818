import type { ScoredPassage, Search } from "@inspo/retrieval"
import { Array, Effect } from "effect"
import * as Observation from "../Observation.ts"
import type { RolloutConfig } from "../RolloutConfig.ts"

/** How many queries of a failed call are repeated at once. */
const repeatedAtOnce = 16

/**
 * Makes the search calls of one round: what is shown for each distinct query. A call that fails is repeated query by
 * query, so that no query spoils the answer to another; a query that fails alone is answered by a message.
 */
export const make = (search: Search.Interface["search"], config: RolloutConfig) => {
  const ask = (queries: ReadonlyArray<string>) =>
    Effect.map(search(queries, config.topK), (found) =>
      Array.zipWith(queries, found, (query, passages) => [query, shown(passages, config)] as const)
    )

  const askAlone = (query: string) =>
    ask([query]).pipe(
      Effect.catch((error) => Effect.as(Effect.logWarning(error.message), [[query, Observation.searchFailed] as const]))
    )

  const askOneByOne = (queries: ReadonlyArray<string>) =>
    Effect.map(Effect.forEach(queries, askAlone, { concurrency: repeatedAtOnce }), Array.flatten)

  return (queries: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, string>> => {
    const distinct = Array.dedupe(queries)
    const answers =
      distinct.length > 1 ? ask(distinct).pipe(Effect.catch(() => askOneByOne(distinct))) : askOneByOne(distinct)
    return Effect.map(answers, (entries) => new Map(entries))
  }
}

const shown = (passages: ReadonlyArray<ScoredPassage>, config: RolloutConfig): string =>
  Observation.passagesText(
    passages.slice(0, config.topK).map(({ passage }) => passage),
    config
  )
