/** Sends what changed of a JSON response (RFC 3229): a client names its version in `if-none-match` and accepts a JSON Patch in `a-im`. */
import { createHash } from "node:crypto"
import { Effect, JsonPatch, type Layer, type Schema } from "effect"
import { type Headers, type HttpBody, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { manipulation } from "./Api.ts"
import * as Recent from "./Recent.ts"

/**
 * Gives every JSON response an ETag. If the client has this version, the response is 304; if it accepts patches and its version was sent
 * lately, 226 and the patch, unless the whole is shorter.
 */
export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter> = HttpRouter.middleware(
  Effect.sync(() => {
    const sent = Recent.make<Schema.Json>(capacity)
    return (answer) =>
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const response = yield* answer
        const { body } = response
        return response.status === 200 && body._tag === "Uint8Array" && body.contentType.startsWith("application/json")
          ? shortened(sent, headers, response, body)
          : response
      })
  }),
  { global: true }
)

/** Versions that are kept, over all paths. */
const capacity = 64

const shortened = (
  sent: Recent.Recent<Schema.Json>,
  headers: Headers.Headers,
  response: HttpServerResponse.HttpServerResponse,
  { body }: HttpBody.Uint8Array
): HttpServerResponse.HttpServerResponse => {
  const etag = `W/"${createHash("sha256").update(body).digest("base64url")}"`
  const caching = { etag, "cache-control": "no-cache" }
  const known = headers["if-none-match"] ?? ""
  if (known === etag) return HttpServerResponse.empty({ status: 304, headers: caching })
  const before = sent.get(known)
  const now: Schema.Json = JSON.parse(new TextDecoder().decode(body))
  sent.set(etag, now)
  if (before !== undefined && headers["a-im"] === manipulation) {
    const patch = JSON.stringify(JsonPatch.get(before, now))
    if (patch.length < body.length)
      return HttpServerResponse.text(patch, {
        status: 226,
        contentType: "application/json",
        headers: { ...caching, im: manipulation, "delta-base": known }
      })
  }
  return HttpServerResponse.setHeaders(response, caching)
}
