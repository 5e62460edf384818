import { Effect, type Redacted, Result, Schedule, Schema } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest } from "effect/http"
import { TrackerError } from "../Tracker.ts"

/** Where MLflow is; a name and password in the address are sent as basic authentication. */
export interface Server {
  readonly url: string
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: Redacted.Redacted
}

/** What MLflow answered, read to its end. */
export interface Answer {
  readonly status: number
  readonly text: string
}

/** Calls one path of MLflow's REST API 2.0, such as `runs/create`; only a server that stays away fails it. */
export type Call = (
  method: "GET" | "POST",
  path: string,
  body: Readonly<Record<string, unknown>>
) => Effect.Effect<Answer, TrackerError>

export const make = Effect.fnUntraced(function* (
  server: Server
): Effect.fn.Return<Call, TrackerError, HttpClient.HttpClient> {
  const { request, shown } = yield* Effect.fromResult(addressOf(server))
  const client = (yield* HttpClient.HttpClient).pipe(
    HttpClient.transformResponse(Effect.timeout("10 seconds")),
    HttpClient.retryTransient({ times: 3, schedule: Schedule.exponential("250 millis") })
  )
  return (method, path, body) =>
    client
      .execute(
        HttpClientRequest.setMethod(HttpClientRequest.appendUrl(request, path), method).pipe(
          method === "GET" ? HttpClientRequest.setUrlParams(textValues(body)) : HttpClientRequest.bodyJsonUnsafe(body)
        )
      )
      .pipe(
        Effect.flatMap((response) => Effect.map(response.text, (text) => ({ status: response.status, text }))),
        Effect.mapError((error) =>
          refusal(
            HttpClientError.isHttpClientError(error) && error.response !== undefined
              ? `${shown} broke off its answer`
              : `${shown} did not answer; check that it runs and can be reached`
          )
        )
      )
})

/** The body of an answer with status 200. */
export const expect = <A, I>(schema: Schema.Codec<A, I>) => {
  const decode = Schema.decodeEffect(Schema.fromJsonString(schema))
  return ({ status, text }: Answer): Effect.Effect<A, TrackerError> =>
    status === 200
      ? Effect.mapError(decode(text), () =>
          refusal("an answer is not what MLflow's REST API 2.0 says; check the address")
        )
      : Effect.fail(
          refusal(
            status === 401 || status === 403
              ? `the server answered with status ${status}; set MLFLOW_TRACKING_TOKEN, or a name and password in the address`
              : `the server answered with status ${status}: ${text.slice(0, shownLength)}`
          )
        )
}

export const refusal = (reason: string): TrackerError => new TrackerError({ tracker: "MLflow", reason })

const addressOf = ({
  token,
  url
}: Server): Result.Result<{ request: HttpClientRequest.HttpClientRequest; shown: string }, TrackerError> => {
  const parsed = URL.parse(url)
  if (parsed === null || !["http:", "https:"].includes(parsed.protocol))
    // What cannot be parsed may hold a password anywhere.
    return Result.fail(
      refusal("the address is no URL of a tracking server; expected one such as http://127.0.0.1:5000")
    )
  const { password, username } = parsed
  const shown = `${parsed.origin}${parsed.pathname.replace(/\/$/u, "")}`
  const request = HttpClientRequest.get(`${shown}/api/2.0/mlflow/`)
  return Result.succeed({
    shown,
    request:
      token !== undefined
        ? HttpClientRequest.bearerToken(request, token)
        : username === ""
          ? request
          : HttpClientRequest.basicAuth(request, decodeURIComponent(username), decodeURIComponent(password))
  })
}

const textValues = (body: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(body).map(([key, value]) => [key, String(value)]))

const shownLength = 200
