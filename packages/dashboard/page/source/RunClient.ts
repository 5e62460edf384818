/** The client of the dashboard server, derived from the same API definition as the server. */
import { HttpApiClient } from "effect/http-api"
import { Api } from "../../src/Api.ts"
import { withDeltas } from "../Deltas.ts"
import { connect } from "../Query.ts"

export const { ask, makeQuery } = connect(
  HttpApiClient.make(Api, { baseUrl: window.location.origin, transformClient: withDeltas }),
  (error) => (error instanceof Error ? error.message : null)
)
