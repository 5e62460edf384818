/** A client that requests only what changed of a JSON response; `src/Deltas.ts` answers it. */
import { Effect, JsonPatch, Schema } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse, UrlParams } from "effect/http"
import * as Recent from "../src/Recent.ts"
import { manipulation } from "../src/Api.ts"

interface Version {
  readonly etag: string
  readonly value: Schema.Json
}

/** The client with the same responses, of which it keeps the last ones to request their changes. */
export const withDeltas = (client: HttpClient.HttpClient): HttpClient.HttpClient => {
  const versions = Recent.make<Version>(capacity)
  return HttpClient.make((request) => {
    if (request.method !== "GET") return client.execute(request)
    const key = `${request.url}?${UrlParams.toString(request.urlParams)}`
    const before = versions.get(key)
    const headers = before === undefined ? {} : { "if-none-match": before.etag, "a-im": manipulation }
    return client.execute(HttpClientRequest.setHeaders(request, headers)).pipe(
      Effect.flatMap((response) => {
        const { etag } = response.headers
        if (before !== undefined && response.status === 304) return Effect.succeed(whole(request, before.value))
        if (etag === undefined || (response.status !== 200 && response.status !== 226)) return Effect.succeed(response)
        return Effect.map(response.json, (json) => {
          const body: Schema.Json = json
          const value =
            before !== undefined && response.status === 226 ? JsonPatch.apply(decodePatch(body), before.value) : body
          versions.set(key, { etag, value })
          return whole(request, value)
        })
      })
    )
  })
}

const capacity = 32

const whole = (request: HttpClientRequest.HttpClientRequest, value: Schema.Json) =>
  HttpClientResponse.fromWeb(request, Response.json(value))

const decodePatch = Schema.decodeUnknownSync(
  Schema.Array(
    Schema.Union([
      Schema.Struct({ op: Schema.Literals(["add", "replace"]), path: Schema.String, value: Schema.Json }),
      Schema.Struct({ op: Schema.Literal("remove"), path: Schema.String })
    ])
  )
)
