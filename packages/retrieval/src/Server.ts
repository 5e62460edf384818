import { Credentials } from "@inspo/http-server"
import { Effect, type Layer, type Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Protocol from "./RetrieveProtocol.ts"
import { Search } from "./Search.ts"

export interface Options {
  /** Documents per query where a request names no number. */
  readonly topK: number
  /** Asked for as `Authorization: Bearer …`; anyone may ask by default. */
  readonly apiKey?: Redacted.Redacted
}

/**
 * The route of the `/retrieve` protocol over {@link Search}. Requests that cannot be understood get status 422, those
 * without the key 401, failed searches 500, each with the reason as `{"detail": …}`.
 */
export const layer = (options: Options): Layer.Layer<never, never, HttpRouter.HttpRouter | Search> =>
  HttpRouter.use((router) =>
    Effect.flatMap(Search, ({ search }) => router.add("POST", Protocol.path, answer(search, options)))
  )

const answer = (search: Search.Interface["search"], { apiKey, topK }: Options) =>
  Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    if (apiKey !== undefined && !Credentials.isBearer(headers["authorization"], apiKey)) {
      return refusal(401, "the key is missing or wrong; expected a header Authorization: Bearer KEY")
    }
    const { queries, return_scores, topk } = yield* HttpServerRequest.schemaBodyJson(Protocol.Request)
    const found = yield* search(queries, topk || topK)
    return HttpServerResponse.jsonUnsafe({
      result: found.map((list) =>
        list.map(({ passage, score }) =>
          return_scores === true ? { document: Protocol.documentOf(passage), score } : Protocol.documentOf(passage)
        )
      )
    })
  }).pipe(
    Effect.catchTags({
      HttpServerError: () => Effect.succeed(refusal(422, `the body cannot be read as JSON; ${expected}`)),
      SchemaError: ({ message }) => Effect.succeed(refusal(422, `${message.replaceAll(/\s+/gu, " ")}; ${expected}`)),
      SearchError: (error) => Effect.as(Effect.logError(error.message), refusal(500, "the search failed"))
    })
  )

const expected = 'expected {"queries": ["…"], "topk": 3, "return_scores": true}'

const refusal = (status: number, detail: string) => HttpServerResponse.jsonUnsafe({ detail }, { status })
