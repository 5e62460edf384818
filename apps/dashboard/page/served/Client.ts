/** The instruction server, by the definition that it is itself built from. */
import { Api } from "@inspo/serve/wire/Api"
import { Effect } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import type { Ask } from "../Viewing.ts"
import { viewing } from "../Viewing.ts"
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

/** Asks the server; interrupted by the signal. What goes wrong comes as an `Error` with a sentence for people. */
export const ask: Ask<Client> = (question, signal) =>
  Effect.runPromise(
    question(client).pipe(
      Effect.tap(() => Effect.sync(Access.heard)),
      Effect.mapError((error) => new Error(explain(error)))
    ),
    signal === undefined ? undefined : { signal }
  )

export const makeView = viewing(ask)

const explain = (error: unknown): string => {
  const tag = typeof error === "object" && error !== null && "_tag" in error ? error._tag : null
  if (tag === "Unauthorized" || tag === "Forbidden") {
    Access.lock()
    return "A key of the scope admin is required."
  }
  if (tag === "HttpClientError") {
    Access.unheard()
    return "The server does not answer. It may have been stopped; this page tries again."
  }
  Access.heard()
  if (tag === "SchemaError") return "The server answers in another version than this page. Reload the page."
  return [...told(error)].join(" ") || "Something went wrong. Reload the page."
}

/** What a problem says: that it is one, where it stands otherwise, and how to mend it. */
function* told(error: unknown): Generator<string> {
  if (typeof error !== "object" || error === null) return
  if ("detail" in error && typeof error.detail === "string" && error.detail !== "") yield sentence(error.detail)
  else if ("title" in error && typeof error.title === "string") yield sentence(error.title)
  if ("remedy" in error && typeof error.remedy === "string") yield sentence(error.remedy)
}

const sentence = (text: string): string =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/u.test(text) ? "" : "."}`
