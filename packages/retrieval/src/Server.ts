import { Credentials, Malformed } from "@inspo/http/server"
import { Effect, type Layer, type Redacted, type SchemaIssue } from "effect"
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
 * The route of the `/retrieve` protocol over {@link Search}. Requests that cannot be understood or ask for more than
 * {@link limits} get status 422, those without the key 401, failed searches 500, each with the reason as `{"detail": …}`.
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
    const asked = topk || topK
    const excess = excessOf(queries, asked)
    if (excess !== null) return refusal(422, excess)
    // One query after the other, so that other requests get their turn.
    const found = yield* Effect.forEach(queries, (query) =>
      Effect.map(Effect.andThen(Effect.yieldNow, search([query], asked)), ([list = []]) => list)
    )
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
      SchemaError: ({ issue }) => Effect.succeed(refusal(422, `${misread(issue)}; ${expected}`)),
      SearchError: (error) => Effect.as(Effect.logError(error.message), refusal(500, "the search failed"))
    })
  )

/** The most that one request may ask for; `documents` are those of all its queries. */
export const limits = { queries: 4096, characters: 20_000, documents: 20_000 }

/** What a request asks for beyond the limits, if anything. */
const excessOf = (queries: ReadonlyArray<string>, topK: number): string | null => {
  if (queries.length > limits.queries)
    return `queries holds ${queries.length} texts, expected at most ${limits.queries}`
  if (queries.length * topK > limits.documents)
    return `topk is ${topK} for ${queries.length} queries, expected at most ${limits.documents} documents in all`
  const long = queries.find(({ length }) => length > limits.characters)
  if (long === undefined) return null
  return `queries holds a text of ${long.length} characters, expected at most ${limits.characters}`
}

const expected = 'expected {"queries": ["…"], "topk": 3, "return_scores": true}'

/** The field at fault, and what was expected there. */
const misread = (issue: SchemaIssue.Issue): string => {
  const [problem] = Malformed.problems(issue)
  return `${problem.path.length === 0 ? "the body" : Malformed.fieldOf(problem.path)}: expected ${problem.expected}`
}

const refusal = (status: number, detail: string) => HttpServerResponse.jsonUnsafe({ detail }, { status })
