import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type * as Undici from "@effect/platform-node/Undici"
import { Duration, Effect, Layer } from "effect"
import {
  Headers,
  HttpClient,
  HttpClientError,
  type HttpClientRequest,
  type HttpClientResponse,
  HttpServerResponse
} from "effect/http"

/**
 * A client for many small requests to one server. Bodies are read whole, and what a request costs beside its bytes is
 * small: no span, no stream, no signal. Bodies that are sent have to be bytes.
 *
 * Connections are kept and opened as needed, so that a slow answer delays no other request. A connection
 * that receives no byte of its answer for `silence` counts as broken.
 */
export const layer = (silence: Duration.Input): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(NodeHttpClient.Dispatcher, (dispatcher) =>
      HttpClient.makeWith<never, never, HttpClientError.HttpClientError, never>(
        Effect.flatMap((request) => exchange(dispatcher, request, Duration.toMillis(silence))),
        Effect.succeed
      )
    )
  ).pipe(Layer.provide(NodeHttpClient.layerDispatcher))

const exchange = (dispatcher: Undici.Dispatcher, request: HttpClientRequest.HttpClientRequest, silence: number) =>
  Effect.callback<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>((resume) => {
    const fail = (cause: unknown) =>
      resume(
        Effect.fail(
          new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
        )
      )
    const { body } = request
    if (body._tag !== "Uint8Array" && body._tag !== "Empty") {
      fail(`the body is ${body._tag}, expected bytes`)
      return
    }
    const { origin, path } = split(request.url)
    let controller: Undici.Dispatcher.DispatchController | undefined
    let status = 0
    let headers = Headers.empty
    const chunks: Array<Uint8Array> = []
    dispatcher.dispatch(
      {
        origin,
        path,
        method: request.method,
        headers: request.headers,
        body: body._tag === "Empty" ? null : body.body,
        headersTimeout: silence,
        bodyTimeout: silence
      },
      {
        onRequestStart: (started) => {
          controller = started
        },
        onResponseStart: (_, statusCode, received) => {
          status = statusCode
          headers = single(received)
        },
        onResponseData: (_, chunk) => {
          chunks.push(chunk)
        },
        onResponseEnd: () => {
          const [first = nothing] = chunks
          const whole = chunks.length > 1 ? Buffer.concat(chunks) : first
          const response = HttpServerResponse.uint8Array(whole, { status, headers })
          resume(Effect.succeed(HttpServerResponse.toClientResponse(response, { request })))
        },
        onResponseError: (_, cause) => fail(cause)
      }
    )
    return Effect.sync(() => controller?.abort(new Error("interrupted")))
  })

const nothing = new Uint8Array()

/** A URL's origin and the rest of it. */
const split = (url: string) => {
  const at = url.indexOf("/", url.indexOf("//") + 2)
  return at < 0 ? { origin: url, path: "/" } : { origin: url.slice(0, at), path: url.slice(at) }
}

const single = (headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>): Headers.Headers => {
  const all: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    all[name] = typeof value === "string" ? value : (value ?? []).join(", ")
  return Headers.fromRecordUnsafe(all)
}
