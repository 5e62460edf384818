import { PatientClient, ReportedFailure } from "@inspo/http/client"
import { type Duration, Effect, type Redacted, Result, Schedule, Schema } from "effect"
import { type HttpClient, HttpClientRequest } from "effect/http"

/** A request that got no usable answer; `reason` says why, without what was sent. */
export class AskError extends Schema.TaggedError<AskError>()("AskError", {
  path: Schema.String,
  status: Schema.NullOr(Schema.Int),
  reason: Schema.String,
  /** The server answered, but not what was expected of it. */
  unusable: Schema.Boolean,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return `${this.path}: ${this.status === null ? "" : `status ${this.status}: `}${this.reason}`
  }
}

interface ConnectionOptions {
  readonly url: string
  readonly apiKey: Redacted.Redacted | null
  /** How long a server may be out of reach or too busy. */
  readonly retryBudget: Duration.Input
  /** How long one answer may take. */
  readonly answerWithin: Duration.Input
}

/** Reads an answer; the failure says what is wrong with it. */
export type Read<A> = (answer: unknown) => Result.Result<A, string>

export type Connection = ReturnType<typeof make>

/**
 * Requests to one server. All of them can be repeated, since sampling changes nothing: what broke or was turned away for a while,
 * as {@link PatientClient} does, and three times what was answered without use.
 */
export const make = (client: HttpClient.HttpClient, options: ConnectionOptions) => {
  const base = options.url.replace(/\/+$/u, "")
  const authorised =
    options.apiKey === null
      ? (request: HttpClientRequest.HttpClientRequest) => request
      : HttpClientRequest.bearerToken(options.apiKey)
  const asking = PatientClient.make(client, {
    server: base,
    answerWithin: options.answerWithin,
    retryBudget: options.retryBudget,
    failureIn: ReportedFailure.statusIn
  })

  const ask = <A>(path: string, request: HttpClientRequest.HttpClientRequest, read: Read<A>) =>
    asking(authorised(request)).pipe(
      Effect.mapError((failure) => unanswered(path, failure)),
      Effect.flatMap((text) =>
        Result.flatMap(parse(text), read).pipe(
          Result.mapError((reason) => new AskError({ path, status: null, reason: oneLine(reason), unusable: true })),
          Effect.fromResult
        )
      ),
      Effect.retry({ while: ({ unusable }) => unusable, times: 3, schedule: Schedule.exponential("250 millis") })
    )

  return {
    get: <A>(path: string, read: Read<A>): Effect.Effect<A, AskError> =>
      ask(path, HttpClientRequest.get(`${base}${path}`), read),
    post: <A>(path: string, body: object, read: Read<A>): Effect.Effect<A, AskError> =>
      ask(
        path,
        HttpClientRequest.post(`${base}${path}`).pipe(
          HttpClientRequest.bodyText(JSON.stringify(body), "application/json")
        ),
        read
      )
  }
}

const parse = (text: string): Result.Result<unknown, string> =>
  Result.try({
    try: (): unknown => JSON.parse(text),
    catch: () => `a body of ${text.length} characters that is not JSON`
  })

const unanswered = (path: string, { body, cause, reason, status }: PatientClient.Unanswered): AskError =>
  new AskError({
    path,
    status,
    reason:
      status === null
        ? `the server did not answer (${reason})`
        : oneLine(ReportedFailure.messageIn(body) ?? body).slice(0, 300) || reason,
    unusable: false,
    ...(cause === undefined ? {} : { cause })
  })

const oneLine = (text: string): string => text.replaceAll(/\s+/gu, " ").trim()
