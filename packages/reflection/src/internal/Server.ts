/** Asking a language-model server over HTTP: address, key, repetitions, and errors that hold no key. */
import { Data, Duration, Effect, flow, Redacted, Result, Schedule, type Schema } from "effect"
import { AiError } from "effect/ai"
import { Headers, HttpClient, HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import * as ServerFault from "./ServerFault.ts"

/** Where a server is, the headers it wants, and how patiently it is asked. */
export interface ServerOptions {
  readonly name: string
  readonly url: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly authorization: (apiKey: string) => readonly [name: string, value: string]
  readonly apiKey: Redacted.Redacted | null
  readonly timeout: Duration.Input
  readonly retries: number
  /** Runs before every request, repetitions included. */
  readonly onRequest: Effect.Effect<void>
  /** Runs after every request that may have been carried out and whose answer did not come, or not whole. */
  readonly onLost: Effect.Effect<void>
}

/** Asks for the body of an answer of status 200, by POST where something is sent. */
export interface Server {
  readonly ask: (path: string, body?: Schema.Json) => Effect.Effect<string, AiError.AiErrorReason>
  /** The name with the address, as errors show it. */
  readonly name: string
  /** Takes the key out of a text, also where JSON escapes it. */
  readonly hide: ServerFault.Hide
}

/** A server that asks for a longer pause is not asked again. */
export const longestWait = Duration.minutes(10)

/** Checks address and key; asks nothing yet. */
export const connect = Effect.fnUntraced(function* (
  options: ServerOptions
): Effect.fn.Return<Server, AiError.AiErrorReason, HttpClient.HttpClient> {
  const client = resilient(yield* HttpClient.HttpClient, options)
  const base = yield* Effect.fromResult(baseUrl(options.url))
  const key = yield* Effect.fromResult(sendable(options.apiKey))
  const headers = key === "" ? options.headers : withKey(options, key)
  const hide = hiding(key)

  const ask: Server["ask"] = (path, body) => {
    const url = `${base}${path}`
    const request =
      body === undefined
        ? HttpClientRequest.get(url)
        : HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(url), body)
    return client.execute(HttpClientRequest.setHeaders(request, headers)).pipe(
      Effect.flatMap((response) => response.text),
      // A span would keep the request with its key, and its name would be sent to the server.
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
      Effect.catch((failure) => Effect.flatMap(reasonOf(failure, url, options, hide), Effect.fail))
    )
  }
  return { ask, hide, name: `${options.name} at ${base}` }
})

const hiding = (key: string): ServerFault.Hide =>
  key.length < shortestSecret
    ? (text) => text
    : (text) => text.replaceAll(key, hidden).replaceAll(JSON.stringify(key).slice(1, -1), hidden)

const hidden = "<redacted>"

/** Shorter keys are no secrets, and hiding them would tear texts apart. */
const shortestSecret = 8

const withKey = ({ authorization, headers }: ServerOptions, key: string) => ({
  ...headers,
  ...Object.fromEntries([authorization(key)])
})

const baseUrl = (url: string | null): Result.Result<string, AiError.AiErrorReason> => {
  const parsed = URL.parse(url ?? "")
  if (parsed !== null && ["http:", "https:"].includes(parsed.protocol))
    return Result.succeed(`${parsed.origin}${parsed.pathname.replace(/\/+$/u, "")}`)
  // What cannot be parsed may hold a password anywhere.
  const body = "the address is no URL, expected one such as http://127.0.0.1:8000/v1"
  return Result.fail(new AiError.InvalidRequestError({ http: { body } }))
}

/** The text of a key as a header can carry it, empty for none. */
const sendable = (apiKey: Redacted.Redacted | null): Result.Result<string, AiError.AiErrorReason> => {
  if (apiKey === null) return Result.succeed("")
  const key = Redacted.value(apiKey).trim()
  if (/^[\x21-\x7e]+$/u.test(key)) return Result.succeed(key)
  const body = "it is empty, or holds a space, a line break or a letter outside ASCII"
  return Result.fail(new AiError.AuthenticationError({ kind: "InvalidKey", http: { body } }))
}

/** Reads the whole body within the timeout, and repeats what may work the next time. */
const resilient = (client: HttpClient.HttpClient, { onLost, onRequest, retries, timeout }: ServerOptions) =>
  client.pipe(
    HttpClient.tapRequest(() => onRequest),
    HttpClient.transformResponse(
      flow(
        Effect.tap((response) => response.text),
        Effect.timeout(timeout),
        Effect.tapError((failure) => (ServerFault.wasNeverSent(failure) ? Effect.void : onLost)),
        Effect.flatMap(accept)
      )
    ),
    HttpClient.retryTransient({ retryOn: "errors-only", while: mayPass, times: retries, schedule: backoff })
  )

/** Lets status 200 pass. Other answers fail as an error that may be repeated, or as one that may not. */
const accept = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  if (response.status >= 200 && response.status < 300) return response
  const { isRetryable } = ServerFault.fromStatus(response.status, yield* response.text, () => "")
  const pause = Headers.parseRetryAfter(response.headers["retry-after"] ?? "")
  const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
  const tooLong =
    Result.isSuccess(pause) && Duration.isGreaterThan(Headers.retryAfterDelay(pause.success, now), longestWait)
  return yield* isRetryable && !tooLong
    ? new HttpClientError.HttpClientError({
        reason: new HttpClientError.StatusCodeError({ request: response.request, response })
      })
    : new FinalAnswer({ response })
})

/** An answer that asking again would not change. */
class FinalAnswer extends Data.TaggedError("FinalAnswer")<{
  readonly response: HttpClientResponse.HttpClientResponse
}> {}

/** Broken bodies, and statuses such as 529 that are no standard. */
const mayPass = (error: unknown): boolean =>
  HttpClientError.isHttpClientError(error) && ["DecodeError", "StatusCodeError"].includes(error.reason._tag)

/** 0.5, 1, 2, … seconds, at most 30. */
const backoff = Schedule.min([Schedule.exponential("500 millis"), Schedule.spaced("30 seconds")])

const reasonOf = Effect.fnUntraced(function* (
  failure: unknown,
  url: string,
  { timeout }: ServerOptions,
  hide: ServerFault.Hide
): Effect.fn.Return<AiError.AiErrorReason> {
  const response = failure instanceof FinalAnswer ? failure.response : refused(failure)
  if (response === null) return ServerFault.unanswered(url, ServerFault.describe(failure, timeout, hide))
  const body = yield* Effect.orElseSucceed(response.text, () => "")
  return ServerFault.fromStatus(response.status, body, hide)
})

const refused = (failure: unknown): HttpClientResponse.HttpClientResponse | null =>
  HttpClientError.isHttpClientError(failure) && failure.reason._tag === "StatusCodeError"
    ? failure.reason.response
    : null
