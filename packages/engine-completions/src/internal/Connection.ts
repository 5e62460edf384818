import { type Duration, Effect, flow, type Redacted, Result, Schedule, Schema } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest } from "effect/http"

/** A request that got no usable answer; `reason` says why, without what was sent. */
export class AskError extends Schema.TaggedError<AskError>()("AskError", {
  path: Schema.String,
  status: Schema.NullOr(Schema.Int),
  reason: Schema.String,
  /** The server answered, but not what was expected of it. */
  unusable: Schema.Boolean
}) {
  override get message() {
    return `${this.path}: ${this.status === null ? "" : `status ${this.status}: `}${this.reason}`
  }
}

export interface ConnectionOptions {
  readonly url: string
  readonly apiKey: Redacted.Redacted | null
  /** How long a server may be out of reach or too busy. */
  readonly patience: Duration.Input
  /** How long one answer may take. */
  readonly answerWithin: Duration.Input
}

/** Reads an answer; the failure says what is wrong with it. */
export type Read<A> = (answer: unknown) => Result.Result<A, string>

/** Requests to one server. All of them can be repeated: sampling changes nothing. */
export interface Connection {
  readonly get: <A>(path: string, read: Read<A>) => Effect.Effect<A, AskError>
  readonly post: <A>(
    path: string,
    body: object,
    headers: Readonly<Record<string, string>>,
    read: Read<A>
  ) => Effect.Effect<A, AskError>
}

/**
 * Repeats what broke or was turned away for a while (408, 429, 5xx), as long after one another as the server asks for, and
 * three times what was answered without use.
 */
export const make = (client: HttpClient.HttpClient, options: ConnectionOptions): Connection => {
  const base = options.url.replace(/\/+$/u, "")
  const authorised =
    options.apiKey === null
      ? (request: HttpClientRequest.HttpClientRequest) => request
      : HttpClientRequest.bearerToken(options.apiKey)
  const answering = client.pipe(
    HttpClient.transformResponse(
      flow(
        Effect.tap((response) => response.text),
        Effect.timeout(options.answerWithin),
        Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
      )
    ),
    HttpClient.filterStatusOk,
    HttpClient.retryTransient({ while: brokeOff, schedule: backoff(options.patience) })
  )

  const ask = <A>(path: string, request: HttpClientRequest.HttpClientRequest, read: Read<A>) =>
    answering.execute(authorised(request)).pipe(
      Effect.catch((error) => Effect.flatMap(explain(path, error), Effect.fail)),
      Effect.flatMap((response) => Effect.orDie(response.text)),
      Effect.flatMap((text) =>
        Result.flatMap(parse(text), read).pipe(
          Result.mapError((reason) => new AskError({ path, status: null, reason: oneLine(reason), unusable: true })),
          Effect.fromResult
        )
      ),
      Effect.retry({ while: ({ unusable }) => unusable, times: 3, schedule: Schedule.exponential("250 millis") })
    )

  return {
    get: (path, read) => ask(path, HttpClientRequest.get(`${base}${path}`), read),
    post: (path, body, headers, read) =>
      ask(
        path,
        HttpClientRequest.post(`${base}${path}`, { headers }).pipe(
          HttpClientRequest.bodyText(JSON.stringify(body), "application/json")
        ),
        read
      )
  }
}

/** 0.25, 0.5, 1, … seconds, at most 10, as long as patience lasts. */
const backoff = (patience: Duration.Input) =>
  Schedule.max([
    Schedule.min([Schedule.exponential("250 millis"), Schedule.spaced("10 seconds")]),
    Schedule.during(patience)
  ])

/** Whether the connection ended within the body. */
const brokeOff = (error: unknown): boolean =>
  HttpClientError.isHttpClientError(error) && error.reason._tag === "DecodeError"

const parse = (text: string): Result.Result<unknown, string> =>
  Result.try({
    try: (): unknown => JSON.parse(text),
    catch: () => `a body of ${text.length} characters that is not JSON`
  })

const explain = Effect.fnUntraced(function* (path: string, error: unknown) {
  const response = HttpClientError.isHttpClientError(error) ? error.response : undefined
  if (response === undefined)
    return new AskError({ path, status: null, reason: "the server did not answer", unusable: false })
  const said = oneLine(yield* Effect.orElseSucceed(response.text, () => "")).slice(0, 300)
  return new AskError({ path, status: response.status, reason: said, unusable: false })
})

const oneLine = (text: string): string => text.replaceAll(/\s+/gu, " ").trim()
