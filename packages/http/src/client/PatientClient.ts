/** Requests that may be repeated, to a server that others run. */
import { Clock, Data, Duration, Effect, Predicate, Result, Schedule } from "effect"
import { Headers, type HttpClient, HttpClientError, type HttpClientRequest, type HttpClientResponse } from "effect/http"
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
  /** Gets every try that failed. */
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
 * Repeats a request that may work the next time: after a broken connection or body, no answer in time, status 408, 429 or
 * 5xx; 0.5 s later, then 1 s, 2 s, … at most 30 s, or as long as `Retry-After` asks for. The log reports long waits. Each
 * try has a span, in which headers and parameters that carry keys are redacted.
 */
export const make = (client: HttpClient.HttpClient, options: Options): Ask => {
  const { isFinal = () => false, onFailure = () => Effect.void, retries = Infinity } = options
  const retryBudget = Duration.toMillis(options.retryBudget)
  const waiting = Waiting.make(options.server)

  const attempt = Effect.fnUntraced(
    function* (request: HttpClientRequest.HttpClientRequest) {
      const response = yield* client.execute(request)
      return { response, body: yield* response.text }
    },
    Effect.timeout(options.answerWithin),
    Effect.mapError((error) => broken(error, options.answerWithin)),
    Effect.flatMap(({ body, response }) =>
      response.status >= 200 && response.status < 300
        ? Effect.succeed(body)
        : Effect.flatMap(refused(response, body, isFinal), Effect.fail)
    ),
    Effect.catch(
      Effect.fnUntraced(function* ({ mayPass, pause, ...seen }) {
        const failure = new Unanswered({ ...seen, repeated: (yield* Schedule.CurrentMetadata).attempt })
        yield* onFailure(failure)
        return yield* Effect.fail({ failure, mayPass, pause })
      })
    ),
    Effect.provideService(Headers.CurrentRedactedNames, secretNames)
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

/** What one try led to; `pause` is what the server asks for. */
type Failed = Pick<Unanswered, "status" | "body" | "reason" | "sent" | "cause"> & {
  readonly mayPass: boolean
  readonly pause: Duration.Duration
}

/** Shorter waits are not reported, in milliseconds. */
const quiet = 10_000
const longest = Duration.seconds(30)

/** Headers that carry keys: those of HTTP, and those of language-model servers. */
const secretNames = [/authorization|cookie|api-?key|secret|token/iu]

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
    pause: Result.isSuccess(asked) ? Headers.retryAfterDelay(asked.success, now) : Duration.zero
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
