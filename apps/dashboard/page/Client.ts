/** The server's views, by the definition that the server itself is built from. */
import { Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api } from "../src/Api.ts"

export type Client = HttpApiClient.ForApi<typeof Api>

const client = Effect.runSync(
  HttpApiClient.make(Api, { baseUrl: window.location.origin }).pipe(Effect.provide(FetchHttpClient.layer))
)

/** Asks the server; interrupted by the signal. What goes wrong comes as an `Error` with a sentence for people. */
export const ask = <A, E>(question: (client: Client) => Effect.Effect<A, E>, signal?: AbortSignal): Promise<A> =>
  Effect.runPromise(
    Effect.mapError(question(client), (error) => new Error(explain(error))),
    signal === undefined ? undefined : { signal }
  )

const explain = (error: unknown): string => {
  if (typeof error === "object" && error !== null && "_tag" in error) {
    if (error._tag === "HttpClientError")
      return "The server does not answer. It may have been stopped; this page tries again."
    if (error._tag === "SchemaError") return "The server answers in another version than this page. Reload the page."
  }
  return error instanceof Error ? error.message : "Something went wrong. Reload the page."
}
