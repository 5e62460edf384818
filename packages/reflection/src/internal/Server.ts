/** Asking a language-model server over HTTP: address, key, repetitions, and errors that hold no key. */
import { Address, PatientClient, ReportedFailure } from "@inspo/http/client"
import { Duration, Effect, Option, Redacted, Result, type Schema } from "effect"
import { AiError } from "effect/ai"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as ServerFault from "./ServerFault.ts"

/** Where a server is, the headers it wants, and how patiently it is asked. */
interface ServerOptions {
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
  const base = yield* baseUrl(options.url)
  const client = PatientClient.make(
    HttpClient.tapRequest(yield* HttpClient.HttpClient, () => options.onRequest),
    {
      server: `${options.name} at ${base}`,
      answerWithin: options.timeout,
      retryBudget: longestWait,
      retries: options.retries,
      isFinal: (status, body) => !ServerFault.fromStatus(status, body, () => "").isRetryable,
      failureIn: ReportedFailure.statusIn,
      onFailure: ({ sent, status }) => (sent && status === null ? options.onLost : Effect.void)
    }
  )
  const key = yield* Effect.fromResult(sendable(options.apiKey))
  const headers = key === "" ? options.headers : withKey(options, key)
  const hide = hiding(key)

  const ask: Server["ask"] = (path, body) => {
    const url = `${base}${path}`
    const request =
      body === undefined
        ? HttpClientRequest.get(url)
        : HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(url), body)
    return Effect.mapError(client(HttpClientRequest.setHeaders(request, headers)), (failure) =>
      reasonOf(failure, url, hide)
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

const baseUrl = (url: string | null): Effect.Effect<string, AiError.AiErrorReason> =>
  Option.match(Address.parse(url ?? ""), {
    onNone: () =>
      Effect.fail(
        new AiError.InvalidRequestError({
          http: { body: "the address is not a URL, expected one such as http://127.0.0.1:8000/v1" }
        })
      ),
    onSome: ({ shown }) => Effect.succeed(shown)
  })

/** The text of a key as a header can carry it, empty for none. */
const sendable = (apiKey: Redacted.Redacted | null): Result.Result<string, AiError.AiErrorReason> => {
  if (apiKey === null) return Result.succeed("")
  const key = Redacted.value(apiKey).trim()
  if (/^[\x21-\x7e]+$/u.test(key)) return Result.succeed(key)
  const body = "it is empty, or holds a space, a line break or a letter outside ASCII"
  return Result.fail(new AiError.AuthenticationError({ kind: "InvalidKey", http: { body } }))
}

const reasonOf = (
  { body, reason, status }: PatientClient.Unanswered,
  url: string,
  hide: ServerFault.Hide
): AiError.AiErrorReason =>
  status === null ? ServerFault.unanswered(url, hide(reason)) : ServerFault.fromStatus(status, body, hide, hide(reason))
