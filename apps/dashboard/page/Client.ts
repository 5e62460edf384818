/** The client of the dashboard server, derived from the same API definition as the server. */
import { Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api } from "../src/Api.ts"
import { withDeltas } from "./Deltas.ts"
import { type Ask, explainTransport, queryHooks } from "./Query.ts"

const client = Effect.runSync(
  HttpApiClient.make(Api, { baseUrl: window.location.origin, transformClient: withDeltas }).pipe(
    Effect.provide(FetchHttpClient.layer)
  )
)

/** Sends a request; fails with an `Error` whose message the page shows. */
export const ask: Ask<typeof client> = (request, signal) =>
  Effect.runPromise(
    Effect.mapError(request(client), (error) => new Error(explain(error))),
    signal === undefined ? undefined : { signal }
  )

export const makeQuery = queryHooks(ask)

const explain = (error: unknown): string => {
  const tag = typeof error === "object" && error !== null && "_tag" in error ? error._tag : null
  return explainTransport(tag) ?? (error instanceof Error ? error.message : "The request failed. Reload the page.")
}
