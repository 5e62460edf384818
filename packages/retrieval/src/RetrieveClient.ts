import {
  Array,
  Cache,
  Duration,
  Effect,
  Exit,
  flow,
  Layer,
  type Redacted,
  Request,
  RequestResolver,
  Result,
  Schedule,
  Schema,
  Semaphore
} from "effect"
import { HttpClient, HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
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
  const endpoint = yield* Effect.fromResult(parseUrl(options))
  const client = resilient(yield* HttpClient.HttpClient, options)
  const inFlight = yield* Semaphore.make(options.concurrency ?? 4)

  const ask = (queries: ReadonlyArray<string>, topK: number) =>
    client
      .execute(HttpClientRequest.bodyJsonUnsafe(endpoint.request, { queries, topk: topK, return_scores: true }))
      .pipe(
        Effect.flatMap((response) => decode(endpoint.shown, response, queries.length)),
        Effect.catchIf(
          (error) => !(error instanceof SearchError),
          (error) => Effect.fail(unanswered(endpoint.shown, error, options))
        ),
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

interface Endpoint {
  readonly request: HttpClientRequest.HttpClientRequest
  /** The address without credentials. */
  readonly shown: string
}

const parseUrl = ({ apiKey, url }: Options): Result.Result<Endpoint, SearchError> => {
  const parsed = URL.parse(url)
  if (parsed === null || !["http:", "https:"].includes(parsed.protocol)) {
    return Result.fail(
      new SearchError({
        operation: "open",
        // What cannot be parsed may hold a password anywhere.
        reason: "the address of the retriever is no URL; expected one such as http://127.0.0.1:8000"
      })
    )
  }
  const { password, username } = parsed
  parsed.username = ""
  parsed.password = ""
  if (!parsed.pathname.endsWith(Protocol.path)) {
    parsed.pathname = `${parsed.pathname.replace(/\/$/u, "")}${Protocol.path}`
  }
  const request = HttpClientRequest.post(parsed)
  const authorised =
    apiKey !== undefined
      ? HttpClientRequest.bearerToken(request, apiKey)
      : username === ""
        ? request
        : HttpClientRequest.basicAuth(request, decodeURIComponent(username), decodeURIComponent(password))
  return Result.succeed({ request: authorised, shown: `${parsed.origin}${parsed.pathname}` })
}

/** Reads the whole body within the timeout, and repeats what may work the next time. */
const resilient = (client: HttpClient.HttpClient, { retries = 4, timeout = "30 seconds" }: Options) =>
  client.pipe(
    HttpClient.transformResponse(
      flow(
        Effect.tap((response) => response.text),
        Effect.timeout(timeout)
      )
    ),
    HttpClient.filterStatusOk,
    HttpClient.retryTransient({ while: brokeOff, times: retries, schedule: backoff })
  )

/** Whether the connection ended within the body. */
const brokeOff = (error: unknown): boolean =>
  HttpClientError.isHttpClientError(error) && error.reason._tag === "DecodeError"

/** 0.25, 0.5, 1, … seconds, at most 10. */
const backoff = Schedule.min([Schedule.exponential("250 millis"), Schedule.spaced("10 seconds")])

const decode = Effect.fnUntraced(function* (
  url: string,
  response: HttpClientResponse.HttpClientResponse,
  queries: number
): Effect.fn.Return<Protocol.Response["result"], SearchError> {
  const text = yield* Effect.orDie(response.text)
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

const unanswered = (url: string, error: unknown, { retries = 4 }: Options): SearchError => {
  const status = HttpClientError.isHttpClientError(error) ? error.response?.status : undefined
  const problem = status === undefined ? "did not answer" : `answered with status ${status}`
  const repeated = HttpClient.isTransientError(error) ? `, ${retries} retries included` : ""
  const remedy =
    status === 401 || status === 403
      ? "Give the key that it expects"
      : "Check that it runs and can be reached; more retries or a longer timeout give it more time"
  return new SearchError({
    operation: "search",
    reason: `${url} ${problem}${repeated}; expected status 200. ${remedy}`,
    cause: error
  })
}

const shownLength = 120
