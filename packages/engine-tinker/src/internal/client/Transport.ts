import { PatientClient } from "@inspo/http/client"
import { Duration, Effect, Predicate, Redacted } from "effect"
import {
  HttpBody,
  HttpClient,
  type HttpClientError,
  HttpClientRequest,
  type HttpClientResponse,
  type HttpMethod
} from "effect/http"
import type * as Reply from "./Reply.ts"

export interface TransportOptions {
  /** Base of the server, without `/api/v1`. */
  readonly url: string
  readonly apiKey: Redacted.Redacted | null
  /** How long one answer may take; null where the HTTP client sees to that. */
  readonly answerWithin: Duration.Input | null
}

/** One exchange with the server; the failure says why there is no answer, without what was sent. */
export type Send = (
  method: HttpMethod.HttpMethod,
  path: string,
  request?: { readonly body?: HttpBody.HttpBody; readonly headers?: Readonly<Record<string, string>> }
) => Effect.Effect<Reply.Reply, Broken>

/** Why there is no answer. */
export interface Broken {
  readonly reason: string
  readonly cause: unknown
  /** Nothing was heard for as long as an answer may take; the connection stood. */
  readonly silent: boolean
}

export const make = (client: HttpClient.HttpClient, options: TransportOptions): Send => {
  const base = `${options.url.replace(/\/+$/u, "")}/api/v1/`
  const inTime = timely(options.answerWithin)
  const key = options.apiKey === null ? {} : { "x-api-key": Redacted.value(options.apiKey) }
  return (method, path, request = {}) => {
    const asked = HttpClientRequest.make(method)(`${base}${path}`, {
      headers: { ...key, ...request.headers },
      ...(request.body === undefined ? {} : { body: request.body })
    })
    const answered = client
      .execute(asked)
      .pipe(Effect.flatMap(readReply), Effect.mapError(broken), inTime, PatientClient.unfollowed)
    return isFrequent(path) ? untraced(answered) : answered
  }
}

const readReply = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.map(response.arrayBuffer, (body): Reply.Reply => ({
    status: response.status,
    headers: response.headers,
    body: new Uint8Array(body)
  }))

/** The request, which holds the key, stays out of it. */
const broken = ({ reason }: HttpClientError.HttpClientError): Broken => ({
  reason: reason._tag === "TransportError" ? `the connection broke${because(reason.cause)}` : reason._tag,
  cause: reason.cause,
  silent: isSilence(reason.cause)
})

/** A JSON body; what is undefined is left out. */
export const jsonBody = (body: object): HttpBody.HttpBody => HttpBody.text(JSON.stringify(body), "application/json")

/** Whether the HTTP client gave up because nothing came. */
const isSilence = (cause: unknown): boolean =>
  Predicate.hasProperty(cause, "code") &&
  (cause.code === "UND_ERR_HEADERS_TIMEOUT" || cause.code === "UND_ERR_BODY_TIMEOUT")

/** What is known of a broken connection, such as `connect ECONNREFUSED 127.0.0.1:8000`. */
const because = (cause: unknown): string =>
  cause instanceof Error && cause.message !== "" ? ` (${cause.message})` : ""

/** A step sends tens of thousands of these, too many for a span each. */
const isFrequent = (path: string) => ["asample", "retrieve_future", "session_heartbeat"].includes(path)
const untraced = Effect.provideService(HttpClient.TracerDisabledWhen, () => true)

/** Fails what takes too long. The HTTP client's own limit is cheaper where it has one: this one forks a fiber. */
const timely = (limit: Duration.Input | null) => {
  if (limit === null) return <A>(work: Effect.Effect<A, Broken>) => work
  const duration = Duration.fromInputUnsafe(limit)
  return Effect.timeoutOrElse({
    duration,
    orElse: () => Effect.fail<Broken>({ reason: "no answer in time", cause: undefined, silent: true })
  })
}
