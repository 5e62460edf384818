/** Requests that may be repeated, to a server that is somebody else's to keep up. */
import { Clock, Data, Duration, Effect, Predicate, Result } from "effect"
import { Headers, HttpClient, HttpClientError, type HttpClientRequest, type HttpClientResponse } from "effect/http"
import * as Waiting from "./Waiting.ts"

export interface Options {
  /** The server as messages name it, without credentials. */
  readonly server: string
  /** How long one answer may take, to the end of its body. */
  readonly answerWithin: Duration.Input
  /** How long a request is repeated; a server that asks for a longer pause than is left is not asked again. */
  readonly retryBudget: Duration.Input
  /** The most repetitions of a request; as many as retryBudget allows by default. */
  readonly retries?: number
  /** Whether asking again is of no use, though the status (408, 429, 5xx) alone would say otherwise. */
  readonly isFinal?: (status: number, body: string) => boolean
  /** Told of every try that failed. */
  readonly onFailure?: (failure: Unanswered) => Effect.Effect<void>
}

/** Asks for the body of an answer of status 2xx. */
export type Ask = (request: HttpClientRequest.HttpClientRequest) => Effect.Effect<string, Unanswered>

/**
 * A request without an answer of use. `status` and `body` are those of an answer, null and empty where none came whole.
 * `reason` says in a few words what was seen, `repeated` how often it was asked again. Nothing of it holds what was sent.
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
 * Asks again for what may work the next time: after a broken connection or body, no answer in time, status 408, 429 or 5xx;
 * 0.5 s later, then 1 s, 2 s, … at most 30 s, or as long as `Retry-After` asks for. Long waits are told in the log.
 */
export const make = (client: HttpClient.HttpClient, options: Options): Ask => {
  const { isFinal = () => false, onFailure = () => Effect.void, retries = Infinity } = options
  const retryBudget = Duration.toMillis(options.retryBudget)
  const waiting = Waiting.make(options.server)

  const attempt = (request: HttpClientRequest.HttpClientRequest): Effect.Effect<string, Failed> =>
    client.execute(request).pipe(
      Effect.flatMap((response) => Effect.map(response.text, (body) => ({ response, body }))),
      Effect.timeout(options.answerWithin),
      Effect.mapError((error) => broken(error, options.answerWithin)),
      Effect.flatMap(({ body, response }) =>
        response.status >= 200 && response.status < 300
          ? Effect.succeed(body)
          : Effect.flatMap(refused(response, body, isFinal), Effect.fail)
      ),
      // A span would keep the request with its key, and its name would be sent to the server.
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
    )

  return Effect.fnUntraced(function* (request) {
    const began = yield* Clock.currentTimeMillis
    for (let repeated = 0; ; repeated++) {
      const answer = yield* Effect.result(attempt(request))
      if (Result.isSuccess(answer)) return answer.success
      const { pause, mayPass, ...seen } = answer.failure
      const failure = new Unanswered({ ...seen, repeated })
      yield* onFailure(failure)
      const left = retryBudget - ((yield* Clock.currentTimeMillis) - began)
      const wait = Math.max(pause, Waiting.backoff(repeated))
      if (!mayPass || repeated >= retries || wait > left) return yield* failure
      if (retryBudget - left + wait > quiet)
        yield* waiting("no answer", `${failure.reason}; asking again in ${Waiting.span(wait)}`)
      yield* Effect.sleep(wait)
    }
  })
}

/** What one try came to; `pause` is what the server asks for, in milliseconds. */
type Failed = Pick<Unanswered, "status" | "body" | "reason" | "sent" | "cause"> & {
  readonly mayPass: boolean
  readonly pause: number
}

/** Shorter waits are no news. */
const quiet = 10_000

const refused = Effect.fnUntraced(function* (
  { headers, status }: HttpClientResponse.HttpClientResponse,
  body: string,
  isFinal: (status: number, body: string) => boolean
): Effect.fn.Return<Failed> {
  const asked = Headers.parseRetryAfter(headers["retry-after"] ?? "")
  const now = yield* Clock.currentTimeMillis
  return {
    status,
    body,
    reason: `status ${status}`,
    sent: true,
    mayPass: (status === 408 || status === 429 || status >= 500) && !isFinal(status, body),
    pause: Result.isSuccess(asked) ? Duration.toMillis(Headers.retryAfterDelay(asked.success, now)) : 0
  }
})

const broken = (error: unknown, answerWithin: Duration.Input): Failed => {
  const cause = causeOf(error)
  return {
    status: null,
    body: "",
    reason: reasonOf(error, cause, answerWithin),
    sent: !(cause instanceof Error && "code" in cause && noConnection.has(cause.code)),
    mayPass: !HttpClientError.isHttpClientError(error) || ["TransportError", "DecodeError"].includes(error.reason._tag),
    pause: 0,
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

/** What the system said, below what the HTTP client made of it: that holds no request. */
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
