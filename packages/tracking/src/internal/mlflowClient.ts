import { Address, PatientClient } from "@inspo/http/client"
import { Effect, Option, type Redacted, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
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
  const { request, shown } = yield* addressOf(server)
  const ask = PatientClient.make(yield* HttpClient.HttpClient, {
    server: shown,
    answerWithin: "10 seconds",
    retryBudget: "1 minute",
    retries: 3
  })
  return (method, path, body) =>
    ask(
      HttpClientRequest.setMethod(HttpClientRequest.appendUrl(request, path), method).pipe(
        method === "GET" ? HttpClientRequest.setUrlParams(textValues(body)) : HttpClientRequest.bodyJsonUnsafe(body)
      )
    ).pipe(
      Effect.map((text) => ({ status: 200, text })),
      Effect.catch(({ body: text, reason, status }) =>
        status === null
          ? Effect.fail(refusal(`${shown} did not answer (${reason}); check that it runs and can be reached`))
          : Effect.succeed({ status, text })
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

const addressOf = ({ token, url }: Server): Effect.Effect<Address.Address, TrackerError> =>
  Option.match(Address.parse(url, token), {
    onNone: () =>
      Effect.fail(refusal("the address is not a URL of a tracking server; expected one such as http://127.0.0.1:5000")),
    onSome: ({ request, shown }) =>
      Effect.succeed({ shown, request: HttpClientRequest.appendUrl(request, "/api/2.0/mlflow/") })
  })

const textValues = (body: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(body).map(([key, value]) => [key, String(value)]))

const shownLength = 200
