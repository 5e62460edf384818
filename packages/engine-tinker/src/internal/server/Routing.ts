import { Credentials } from "@inspo/http/server"
import { ByteSize, Effect, type Redacted, Schema } from "effect"
import { type Headers, type HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { decoder, digestOf, readJson } from "./Bodies.ts"
import type { Page } from "./Listings.ts"
import { type Refusal, refuse } from "./Refusal.ts"
import type { TinkerServer } from "./Service.ts"

/** What of a request is not in its body; `digest` is that of the body as it came. */
export interface Received {
  readonly digest: string
  readonly headers: Headers.Headers
}

type Path = `/${string}`

type Handled<A> = Effect.Effect<A, Refusal, HttpRouter.RouteContext>

type Answer = HttpServerResponse.HttpServerResponse

export type Routing = ReturnType<typeof make>

/** Adds routes of each kind; all ask for the key, bound the body and answer refusals. */
export const make = (router: HttpRouter.HttpRouter, server: TinkerServer.Interface) => {
  const mostBytes = ByteSize.fromInputUnsafe(server.bodyBytes)
  const route = (
    method: "GET" | "POST" | "DELETE",
    path: Path,
    handle: (request: HttpServerRequest.HttpServerRequest) => Handled<Answer>
  ) =>
    router.add(method, path, (request) =>
      authorize(server.apiKey, request).pipe(
        Effect.andThen(handle(request)),
        Effect.provideService(HttpServerRequest.MaxBodySize, mostBytes),
        Effect.catchTag("Refusal", ({ detail, status }) => Effect.succeed(reply({ detail }, status)))
      )
    )

  const receive = <S extends Schema.ConstraintDecoder<unknown>>(
    path: Path,
    schema: S,
    handle: (body: S["Type"], received: Received) => Handled<Answer>
  ) => {
    const decode = decoder(schema)
    return route("POST", path, (request) =>
      Effect.flatMap(readJson(request, server.bodyBytes), ({ bytes, value }) =>
        decode(value).pipe(
          Effect.flatMap((body) => handle(body, { digest: digestOf(bytes), headers: request.headers })),
          // What may be sent again under its number, and what already has its number, keeps it.
          Effect.tapError(({ status }) => ([409, 429].includes(status) ? Effect.void : server.skip(value)))
        )
      )
    )
  }

  /** A request that is answered at once. */
  const post = <S extends Schema.ConstraintDecoder<unknown>>(
    path: Path,
    schema: S,
    handle: (body: S["Type"], received: Received) => Handled<object>
  ) => receive(path, schema, (body, received) => Effect.map(handle(body, received), (answer) => reply(answer)))

  return {
    route,
    get: (path: Path, handle: (page: Page) => Handled<object>) =>
      route("GET", path, (request) => Effect.map(Effect.flatMap(readPage(request), handle), (body) => reply(body))),
    receive,
    post,
    /** A request whose result is retrieved later. */
    future: <S extends Schema.ConstraintDecoder<unknown>>(
      path: Path,
      schema: S,
      handle: (body: S["Type"], digest: string) => Effect.Effect<string, Refusal>
    ) =>
      post(path, schema, (body, { digest }) =>
        Effect.map(handle(body, digest), (request_id) => ({
          request_id,
          ...(isOfModel(body) ? { model_id: body.model_id } : {})
        }))
      )
  }
}

export const reply = (body: object, status = 200) =>
  HttpServerResponse.jsonUnsafe(body, { status, ...(status === 429 ? { headers: { "retry-after": "1" } } : {}) })

const authorize = (
  apiKey: Redacted.Redacted | null,
  { headers }: HttpServerRequest.HttpServerRequest
): Effect.Effect<void, Refusal> => {
  return apiKey === null || Credentials.isSecret(headers["x-api-key"] ?? "", apiKey)
    ? Effect.void
    : Effect.fail(refuse("the header X-API-Key does not hold this server's key", 401))
}

/** Other parameters choose among accounts and projects, of which there is one here. */
const readPage = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Page, Refusal> => {
  const { searchParams } = new URL(request.url, "http://localhost")
  return Effect.map(decodePaging(Object.fromEntries(searchParams)), ({ limit = 20, offset = 0 }) => ({ limit, offset }))
}

const Paging = Schema.Struct({
  limit: Schema.optionalKey(
    Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 1000 }))
  ),
  offset: Schema.optionalKey(Schema.NumberFromString.check(Schema.isInt(), Schema.isGreaterThanOrEqualTo(0)))
})

const decodePaging = decoder(Paging, "ignore")

const isOfModel = Schema.is(Schema.Struct({ model_id: Schema.String }))
