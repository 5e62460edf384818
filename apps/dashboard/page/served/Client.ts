/** The client of the instruction server, derived from the same API definition as the server. */
import { Api } from "@inspo/serve/wire/Api"
import { Effect } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { capital } from "@inspo/report/Format"
import { type Ask, explainTransport, queryHooks } from "../Query.ts"
import * as Access from "./Access.ts"

export type Client = HttpApiClient.ForApi<typeof Api>

const client = Effect.runSync(
  HttpApiClient.make(Api, {
    baseUrl: window.location.origin,
    transformClient: HttpClient.mapRequest((request) => {
      const key = Access.key()
      return key === null ? request : HttpClientRequest.bearerToken(request, key)
    })
  }).pipe(Effect.provide(FetchHttpClient.layer))
)

/** Sends a request; fails with an `Error` whose message the page shows. */
export const ask: Ask<Client> = (request, signal) =>
  Effect.runPromise(
    request(client).pipe(
      Effect.tap(() => Effect.sync(() => Access.setConnected(true))),
      Effect.mapError((error) => new Error(explain(error)))
    ),
    signal === undefined ? undefined : { signal }
  )

export const makeQuery = queryHooks(ask)

const explain = (error: unknown): string => {
  const tag = typeof error === "object" && error !== null && "_tag" in error ? error._tag : null
  if (tag === "Unauthorized" || tag === "Forbidden") {
    Access.lock()
    return "A key with the scope admin is required."
  }
  Access.setConnected(tag !== "HttpClientError")
  return explainTransport(tag) ?? ([...sentences(error)].join(" ") || "The request failed. Reload the page.")
}

/** The detail of an API problem, or else its title, and how to fix it. */
function* sentences(error: unknown): Generator<string> {
  if (typeof error !== "object" || error === null) return
  if ("detail" in error && typeof error.detail === "string" && error.detail !== "") yield sentence(error.detail)
  else if ("title" in error && typeof error.title === "string") yield sentence(error.title)
  if ("remedy" in error && typeof error.remedy === "string") yield sentence(error.remedy)
}

const sentence = (text: string): string => `${capital(text)}${/[.!?]$/u.test(text) ? "" : "."}`
