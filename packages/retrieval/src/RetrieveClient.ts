import { Address, PatientClient } from "@inspo/http/client"
import {
  Array,
  Cache,
  Duration,
  Effect,
  Exit,
  Layer,
  Option,
  type Redacted,
  Request,
  RequestResolver,
  Schema,
  Semaphore
} from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as Protocol from "./RetrieveProtocol.ts"
import { type ScoredPassage, Search, SearchError } from "./Search.ts"

export interface Options {
  /** Address of the server, with or without `/retrieve`; a name and password in it are sent as basic authentication. */
  readonly url: string
  /** Sent as `Authorization: Bearer …`. */
  readonly apiKey?: Redacted.Redacted
  /** How long one request may take; 30 seconds by default. */
  readonly timeout?: Duration.Input
  /** How often a request is repeated after a timeout, a broken connection, or status 408, 429 or 5xx; 4 by default. */
  readonly retries?: number
  /** The most queries of one request; 256 by default. */
  readonly batchSize?: number
  /** Requests in flight at once; 4 by default. */
  readonly concurrency?: number
  /** Answers to how many queries are remembered; 10,000 by default, 0 for none. */
  readonly cacheSize?: number
}

/**
 * The search of a server that speaks the `/retrieve` protocol. Queries that are asked at the same time share requests, a
 * query that was answered is not asked again, and repeated failures become a {@link SearchError}.
 *
 * @example
 * ```ts
 * import { layer } from "@inspo/retrieval/RetrieveClient"
 * import { Layer } from "effect"
 * import { FetchHttpClient } from "effect/http"
 *
 * const search = layer({ url: "http://127.0.0.1:8000" }).pipe(Layer.provide(FetchHttpClient.layer))
 * ```
 */
export const layer = (options: Options): Layer.Layer<Search, SearchError, HttpClient.HttpClient> =>
  Layer.effect(Search, make(options))

/** The service of {@link layer}. */
export const make = Effect.fn("RetrieveClient.make")(function* (
  options: Options
): Effect.fn.Return<Search.Interface, SearchError, HttpClient.HttpClient> {
  const { batchSize = 256, cacheSize = 10_000 } = options
  const { retries = 4, timeout = "30 seconds" } = options
  const { request, shown } = yield* addressOf(options)
  const client = PatientClient.make(yield* HttpClient.HttpClient, {
    server: shown,
    answerWithin: timeout,
    retryBudget: longestWait,
    retries
  })
  const inFlight = yield* Semaphore.make(options.concurrency ?? 4)

  const ask = (queries: ReadonlyArray<string>, topK: number) =>
    client(
      HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.setMethod(request, "POST"), {
        queries,
        topk: topK,
        return_scores: true
      })
    ).pipe(
      Effect.mapError((failure) => unanswered(shown, failure)),
      Effect.flatMap((text) => decode(shown, text, queries.length)),
      (asking) => inFlight.withPermit(asking)
    )

  const resolver = RequestResolver.makeGrouped<Lookup, number>({
    key: ({ request }) => request.topK,
    resolver: (entries, topK) => {
      const byQuery = Map.groupBy(entries, ({ request }) => request.query)
      return Effect.map(ask([...byQuery.keys()], topK), (lists) => {
        for (const [waiting, list] of Array.zip([...byQuery.values()], lists)) {
          for (const entry of waiting) entry.completeUnsafe(Exit.succeed(Protocol.passages(list, topK)))
        }
      })
    }
  }).pipe(RequestResolver.batchN(batchSize))

  const lookUp =
    cacheSize > 0
      ? yield* Effect.map(
          RequestResolver.asCache(resolver, {
            capacity: cacheSize,
            timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.infinity : Duration.zero)
          }),
          (cache) => (lookup: Lookup) => Cache.get(cache, lookup)
        )
      : (lookup: Lookup) => Effect.request(lookup, resolver)

  const search = Effect.fn("Search.search")(function* (queries: ReadonlyArray<string>, topK: number) {
    // The protocol takes 0 for the server's default.
    if (topK < 1) return queries.map(() => [])
    const limit = Math.floor(topK)
    return yield* Effect.forEach(queries, (query) => lookUp(new Lookup({ query, topK: limit })), {
      concurrency: "unbounded"
    })
  })
  return Search.of({ search })
})

/** The passages for one query. */
class Lookup extends Request.TaggedClass("Lookup")<
  { readonly query: string; readonly topK: number },
  ReadonlyArray<ScoredPassage>,
  SearchError
> {}

const addressOf = ({ apiKey, url }: Options): Effect.Effect<Address.Address, SearchError> =>
  Option.match(Address.parse(url, apiKey), {
    onNone: () =>
      Effect.fail(
        new SearchError({
          operation: "open",
          reason: "the address of the retriever is not a URL; expected one such as http://127.0.0.1:8000"
        })
      ),
    onSome: ({ request, shown }) =>
      Effect.succeed(
        shown.endsWith(Protocol.path)
          ? { request, shown }
          : { request: HttpClientRequest.appendUrl(request, Protocol.path), shown: `${shown}${Protocol.path}` }
      )
  })

const decode = Effect.fnUntraced(function* (
  url: string,
  text: string,
  queries: number
): Effect.fn.Return<Protocol.Response["result"], SearchError> {
  const answer = yield* Effect.mapError(decodeResponse(text), () => garbage(url, text.slice(0, shownLength)))
  return answer.result.length === queries
    ? answer.result
    : yield* garbage(url, `${answer.result.length} lists of documents for ${queries} queries`)
})

const decodeResponse = Schema.decodeEffect(Schema.fromJsonString(Protocol.Response))

const garbage = (url: string, found: string): SearchError =>
  new SearchError({
    operation: "search",
    reason:
      `${url} answered ${found}; expected {"result": [[{"document": {"id", "contents"}, "score"}, …], …]} with one list ` +
      "per query. Check that the address is a retriever's"
  })

const unanswered = (url: string, { cause, reason, repeated, status }: PatientClient.Unanswered): SearchError => {
  const problem = status === null ? `did not answer (${reason})` : `answered with status ${status}`
  const retried = repeated > 0 ? `, ${repeated} ${repeated === 1 ? "retry" : "retries"} included` : ""
  const remedy =
    status === 401 || status === 403
      ? "Give the key that it expects"
      : "Check that it runs and can be reached; more retries or a longer timeout give it more time"
  return new SearchError({
    operation: "search",
    reason: `${url} ${problem}${retried}; expected status 200. ${remedy}`,
    ...(cause === undefined ? {} : { cause })
  })
}

/** A retriever that asks for a longer pause is not asked again. */
const longestWait = Duration.minutes(10)

const shownLength = 120
