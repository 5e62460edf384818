/** Sends requests that may be repeated to a server that may fail for a while. */
import { Clock, Data, Duration, Effect, Predicate, Result, Schedule } from "effect"
import {
  FetchHttpClient,
  Headers,
  type HttpClient,
  HttpClientError,
  type HttpClientRequest,
  type HttpClientResponse
} from "effect/http"
import * as Waiting from "./Waiting.ts"

export interface Options {
  /** The name of the server in messages, without credentials. */
  readonly server: string
  /** How long one answer may take, to the end of its body. */
  readonly answerWithin: Duration.Input
  /** How long a request is retried; it fails if the server requires a longer pause than is left. */
  readonly retryBudget: Duration.Input
  /** The most retries of a request; without a limit by default. */
  readonly retries?: number
  /** Whether an answer is final although its status (408, 429, 5xx) would allow a retry. */
  readonly isFinal?: (status: number, body: string) => boolean
  /** The status of a failure that the body of an answer with status 2xx reports; null for an answer. */
  readonly failureIn?: (body: string) => number | null
  /** Called after every failed attempt. */
  readonly onFailure?: (failure: Unanswered) => Effect.Effect<void>
}

/** Sends a request and returns the body of an answer with a status of 2xx that reports no failure. */
export type Ask = (request: HttpClientRequest.HttpClientRequest) => Effect.Effect<string, Unanswered>

/**
 * A request without a usable answer. `status` and `body` are those of an answer, null and empty if none arrived completely.
 * `reason` describes the last failure, `repeated` counts the retries. It contains nothing of the request.
 */
export class Unanswered extends Data.TaggedError("Unanswered")<{
  readonly status: number | null
  readonly body: string
  readonly reason: string
  /** Whether the server may have seen the request. */
  readonly sent: boolean
  readonly repeated: number
  readonly cause?: unknown
}> {}

/**
 * Retries after a broken connection or body, a timeout, and a status of 408, 429 or 5xx: 0.5 s later, then 1 s, 2 s, … at most
 * 30 s, or as long as `Retry-After` requires. Long waits are logged. Each attempt has a span, in which headers and parameters
 * that contain keys are redacted. Redirects are not followed: they could send a key to another server.
 */
export const make = (client: HttpClient.HttpClient, options: Options): Ask => {
  const { failureIn = () => null, isFinal = () => false, onFailure = () => Effect.void, retries = Infinity } = options
  const retryBudget = Duration.toMillis(options.retryBudget)
  const waiting = Waiting.make(options.server)

  const attempt = Effect.fnUntraced(
    function* (request: HttpClientRequest.HttpClientRequest) {
      const response = yield* client.execute(request)
      return { response, body: yield* response.text }
    },
    Effect.timeout(options.answerWithin),
    Effect.mapError((error) => broken(error, options.answerWithin)),
    Effect.flatMap(({ body, response }) => {
      const isGood = response.status >= 200 && response.status < 300
      const status = isGood ? failureIn(body) : response.status
      return status === null
        ? Effect.succeed(body)
        : Effect.flatMap(refused(response, status, body, isFinal), Effect.fail)
    }),
    Effect.catch(
      Effect.fnUntraced(function* ({ mayPass, pause, ...seen }) {
        const failure = new Unanswered({ ...seen, repeated: (yield* Schedule.CurrentMetadata).attempt })
        yield* onFailure(failure)
        return yield* Effect.fail({ failure, mayPass, pause })
      })
    ),
    Effect.provideService(Headers.CurrentRedactedNames, secretNames),
    unfollowed
  )

  const schedule = (began: number) =>
    Schedule.exponential("500 millis").pipe(
      Schedule.setInputType<Effect.Error<ReturnType<typeof attempt>>>(),
      Schedule.modifyDelay(({ duration, input: { pause } }) =>
        Effect.succeed(Duration.max(pause, Duration.min(duration, longest)))
      ),
      Schedule.while(
        ({ attempt, duration, input: { mayPass }, now }) =>
          mayPass && attempt <= retries && now - began + Duration.toMillis(duration) <= retryBudget
      ),
      Schedule.tap(({ duration, input: { failure }, now }) => {
        const wait = Duration.toMillis(duration)
        return now - began + wait > quiet
          ? waiting("no answer", `${failure.reason}; the next try is in ${Waiting.span(wait)}`)
          : Effect.void
      })
    )

  return (request) =>
    Effect.flatMap(Clock.currentTimeMillis, (began) => Effect.retry(attempt(request), schedule(began))).pipe(
      Effect.mapError(({ failure }) => failure)
    )
}

/** Requests of the client of `fetch` without redirects, which could carry a key to another server; others follow none. */
export const unfollowed: <A, E, R>(requests: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.provideService(
  FetchHttpClient.RequestInit,
  { redirect: "manual" }
)

/** The failure of one attempt; `pause` is the one that the server requires. */
type Failed = Pick<Unanswered, "status" | "body" | "reason" | "sent" | "cause"> & {
  readonly mayPass: boolean
  readonly pause: Duration.Duration
}

/** Shorter waits are not logged, in milliseconds. */
const quiet = 10_000
const longest = Duration.seconds(30)

/** Headers that carry keys: those of HTTP, and those of language-model servers. */
const secretNames = [/authorization|cookie|api-?key|secret|token/iu]

const refused = Effect.fnUntraced(function* (
  { headers, status: sent }: HttpClientResponse.HttpClientResponse,
  status: number,
  body: string,
  isFinal: (status: number, body: string) => boolean
): Effect.fn.Return<Failed> {
  const asked = Headers.parseRetryAfter(headers["retry-after"] ?? "")
  const now = yield* Clock.currentTimeMillis
  return {
    status,
    body,
    reason:
      headers["location"] !== undefined && status >= 300 && status < 400
        ? `status ${status}, a redirect to ${placeOf(headers["location"])}, which is not followed`
        : `status ${status}${status === sent ? "" : ` within an answer of status ${sent}`}`,
    sent: true,
    mayPass: (status === 408 || status === 429 || status >= 500) && !isFinal(status, body),
    pause: Result.isSuccess(asked) ? Headers.retryAfterDelay(asked.success, now) : Duration.zero
  }
})

/** Where a redirect leads, without a query, which may hold a key. */
const placeOf = (location: string): string => location.replaceAll(/[?#].*|[^\x21-\x7e]/gsu, "").slice(0, 200)

const broken = (error: unknown, answerWithin: Duration.Input): Failed => {
  const cause = causeOf(error)
  return {
    status: null,
    body: "",
    reason: reasonOf(error, cause, answerWithin),
    sent: !(cause instanceof Error && "code" in cause && noConnection.has(cause.code)),
    mayPass: !HttpClientError.isHttpClientError(error) || ["TransportError", "DecodeError"].includes(error.reason._tag),
    pause: Duration.zero,
    ...(cause === undefined ? {} : { cause })
  }
}

const reasonOf = (error: unknown, cause: unknown, answerWithin: Duration.Input): string => {
  if (Predicate.isTagged(error, "TimeoutError"))
    return `no answer within ${Duration.format(Duration.fromInputUnsafe(answerWithin))}`
  if (HttpClientError.isHttpClientError(error) && error.response !== undefined)
    return "the connection broke within the answer"
  return cause instanceof Error && cause.message !== "" ? cause.message : "the connection failed"
}

/** The error of the system below that of the HTTP client, which contains the request. */
const causeOf = (error: unknown): unknown => {
  if (!HttpClientError.isHttpClientError(error) || !("cause" in error.reason)) return undefined
  const { cause } = error.reason
  return cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
}

const noConnection: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT"
])
