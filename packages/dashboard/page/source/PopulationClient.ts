/** The client of the instruction server, derived from the same API definition as the server. */
import { Api } from "@inspo/serve"
import { capital } from "@inspo/report"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { connect } from "../Query.ts"
import * as Access from "./Access.ts"

export type Client = HttpApiClient.ForApi<typeof Api>

export const { ask, makeQuery } = connect(
  HttpApiClient.make(Api, {
    baseUrl: window.location.origin,
    transformClient: HttpClient.mapRequest((request) => {
      const key = Access.key()
      return key === null ? request : HttpClientRequest.bearerToken(request, key)
    })
  }),
  (error, tag) => {
    if (tag === "Unauthorized" || tag === "Forbidden") {
      Access.lock()
      return "A key with the scope admin is required."
    }
    Access.setConnected(tag !== "HttpClientError")
    return [...sentences(error)].join(" ") || null
  },
  () => Access.setConnected(true)
)

/** The detail of an API problem, or else its title, and how to fix it. */
function* sentences(error: object): Generator<string> {
  if ("detail" in error && typeof error.detail === "string" && error.detail !== "") yield sentence(error.detail)
  else if ("title" in error && typeof error.title === "string") yield sentence(error.title)
  if ("remedy" in error && typeof error.remedy === "string") yield sentence(error.remedy)
}

const sentence = (text: string): string => `${capital(text)}${/[.!?]$/u.test(text) ? "" : "."}`
