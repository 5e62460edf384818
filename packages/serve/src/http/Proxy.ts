/** Forwards requests to a language model, with a leased instruction in the system prompt. */
import type { Inspo, Lease, Wording } from "@inspo/client"
import { State } from "@inspo/cohorts"
import { Client, Credentials } from "@inspo/http/server"
import { Duration, Effect, Exit, Function, Layer, Redacted, Schema, Stream } from "effect"
import {
  type Headers,
  HttpClient,
  type HttpClientError,
  HttpClientRequest,
  type HttpClientResponse,
  HttpMethod,
  HttpRouter,
  type HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import * as Admission from "./internal/Admission.ts"
import * as JsonPosition from "./internal/JsonPosition.ts"
import * as Marker from "./internal/Marker.ts"
import * as UpstreamPath from "./internal/UpstreamPath.ts"
import * as Limits from "../wire/Limits.ts"
import { Key } from "../wire/Name.ts"
import { holderOf, keyRate, type KeyRate, type Keys } from "./internal/Security.ts"

export interface Options {
  /** The address of the model's server up to its version: `https://api.openai.com/v1`. No other server gets a request. */
  readonly upstream: string
  /** The key for the upstream; without it the caller's own `authorization` is forwarded. */
  readonly upstreamKey?: Redacted.Redacted
  /** The keys that callers must send, as for the other routes. */
  readonly keys?: Keys
  /** Addresses of reverse proxies whose `x-forwarded-for` is believed; none by default. */
  readonly proxies?: Client.Options["proxies"]
  /** Leases instructions. Its timeout is the most that the proxy delays an answer. */
  readonly inspo: Effect.Effect<Inspo>
  /** How long the upstream may be silent, before its answer and within it; 10 minutes by default. */
  readonly timeout?: Duration.Input
}

/**
 * Forwards all requests below `/v1`, except those for populations, to the upstream. In `POST /v1/chat/completions` and
 * `/v1/responses` of OpenAI, `{{inspo:NAME}}` in a system prompt is replaced by the leased instruction. The header
 * `inspo-conversation`, else `user` of the body, is the key of the lease; each request without them has a lease of its own. The
 * answer is that of the upstream, streams piece by piece, with the headers `inspo-population`, `inspo-instruction` and
 * `inspo-lease`; without a lease in time `inspo-unleased` names the fallback. Nothing but markers is changed. If the caller
 * disconnects, the request to the upstream is cancelled. A browser shows an answer in a sandbox, never as a page of this server.
 */
export const layer = (options: Options): Layer.Layer<never, never, HttpClient.HttpClient | HttpRouter.HttpRouter> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      const withinRate = yield* keyRate
      const places = Admission.make({ requests: Limits.requestsProxied, bytes: Limits.bytesProxied })
      const { keys: { admin, lease } = {}, proxies = [] } = options
      const clientOf = Client.of({ keys: [admin, lease].filter((key) => key !== undefined), proxies })
      return HttpRouter.add(
        "*",
        "/v1/*",
        pass({ client, clientOf, places, withinRate }, options).pipe(Effect.catch(refusal))
      )
    })
  )

interface Shared {
  readonly client: HttpClient.HttpClient
  readonly clientOf: ReturnType<typeof Client.of>
  readonly places: Admission.Admission
  readonly withinRate: KeyRate
}

/** Paths below `/v1` that are not forwarded. */
export const ownPaths = ["/v1/populations/*", ...UpstreamPath.telemetry.map((name) => `/v1/${name}` as const)] as const

/** Whether a request of this path, with or without a query, is forwarded. */
export const isPath = (path: string): boolean => typeof UpstreamPath.of(path) === "string"

/** A refusal of the proxy itself, in the format of OpenAI's errors. */
class Refused extends Schema.TaggedError<Refused>()("Refused", {
  status: Schema.Int,
  code: Schema.String,
  message: Schema.String
}) {}

const refusal = ({ code, message, status }: Refused) =>
  Effect.succeed(
    HttpServerResponse.jsonUnsafe(
      { error: { message: `inspo: ${message}`, type: "inspo", code, param: null } },
      { status, ...(status === 429 ? { headers: { "retry-after": "1" } } : {}) }
    )
  )

const tooMany = new Refused({
  status: 429,
  code: "too_many",
  message:
    `the limit of ${Limits.requestsProxied} requests or ${Limits.bytesProxied} bytes that wait for the upstream is reached, ` +
    "or half of it by your key and address. Send the request again in a second"
})

const pass = Effect.fnUntraced(function* ({ client, clientOf, places, withinRate }: Shared, options: Options) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { method, url } = request
  const path = UpstreamPath.of(url)
  if (path === null || !HttpMethod.isHttpMethod(method)) return HttpServerResponse.empty({ status: 404 })
  if (/^(?:cross|same)-site$/u.test(request.headers["sec-fetch-site"] ?? ""))
    return yield* new Refused({
      status: 403,
      code: "origin",
      message: "no link of another origin may use the upstream"
    })
  if (yield* admit(request.headers, options))
    yield* Effect.mapError(
      withinRate(request.headers),
      ({ detail = "too many requests" }) => new Refused({ status: 429, code: "too_many", message: detail })
    )
  if (typeof path !== "string")
    return yield* new Refused({
      status: 400,
      code: "path",
      message: `the path ${path.refused} cannot be forwarded; expected no segments . and .., and no double escapes`
    })
  const bytes = new Uint8Array(yield* Effect.mapError(request.arrayBuffer, unread))
  // Taken after the body has arrived, so that stalled uploads take no place.
  if (!(yield* places.take(clientOf(request), bytes.length))) return yield* tooMany
  const { timeout = "10 minutes" } = options
  const ask = (filled: Uint8Array) =>
    asked(
      client,
      HttpClientRequest.make(method)(
        `${options.upstream.replace(/\/+$/u, "")}${path}${/\?.*$/su.exec(url)?.[0] ?? ""}`,
        { headers: onward(request.headers, options) }
      ).pipe(
        filled.length === 0
          ? Function.identity
          : HttpClientRequest.bodyUint8Array(filled, request.headers["content-type"] ?? "application/json")
      ),
      timeout
    )
  const json = method === "POST" && UpstreamPath.hasPrompts(path) ? jsonOf(bytes) : null
  if (json === null) return answer(yield* ask(bytes))
  const { fill, markers } = yield* Effect.mapError(
    Effect.fromResult(Marker.find(json)),
    (message) => new Refused({ status: 400, code: "marker", message })
  )
  const [marker] = markers
  if (marker === undefined) return answer(yield* ask(bytes))
  const key = yield* keyOf(request.headers, json)
  // Failed work gets no reward, unless the caller knows the key of its lease.
  const isLost = (status: number) => status >= 400 && key === undefined
  return yield* Effect.acquireUseRelease(
    leaseOf(yield* options.inspo, marker.population, fallbackOf(markers), key),
    (lease) =>
      Effect.gen(function* () {
        const { id, instruction, population } = lease
        yield* Effect.annotateCurrentSpan({
          "inspo.lease": id,
          "inspo.population": population,
          "inspo.instruction": instruction
        })
        const filled = yield* Effect.try({
          try: () => fill(textsOf(lease)),
          catch: (cause) => new Refused({ status: 400, code: "marker", message: messageOf(cause) })
        })
        const answered = yield* ask(new TextEncoder().encode(filled))
        return answer(answered, isLost(answered.response.status) ? {} : headersOf(lease))
      }),
    (lease, exit) =>
      Effect.sync(() => {
        if (isLost(Exit.isSuccess(exit) ? exit.value.status : 500)) void lease.abandon()
      })
  )
})

const asked = (client: HttpClient.HttpClient, request: HttpClientRequest.HttpClientRequest, timeout: Duration.Input) =>
  HttpClient.withScope(client)
    .execute(request)
    .pipe(
      // Trace headers are not sent to the upstream.
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Effect.mapError(unanswered),
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () => Effect.fail(upstreamFailed(`did not answer within ${inWords(timeout)}`, 504))
      }),
      Effect.filterOrFail(
        ({ status }) => status >= 200 && status <= 599,
        ({ status }) => upstreamFailed(`answered with the status ${status}; expected 200 to 599`)
      ),
      Effect.map((response): Answered => ({
        response,
        // The error does not contain the request, which has a key.
        body: Stream.mapError(
          response.stream,
          ({ message }) => new Error(`the upstream ended its answer: ${message}`)
        ).pipe(
          Stream.timeoutOrElse({
            duration: timeout,
            orElse: () => Stream.fail(new Error(`the upstream sent nothing of its answer for ${inWords(timeout)}`))
          })
        )
      }))
    )

interface Answered {
  readonly response: HttpClientResponse.HttpClientResponse
  readonly body: Stream.Stream<Uint8Array, Error>
}

const inWords = (timeout: Duration.Input) => Duration.format(Duration.fromInputUnsafe(timeout))

/** Whether a request has the lease key; refused if it has no key of this server. */
const admit = (headers: Headers.Headers, { keys = {}, upstreamKey }: Options): Effect.Effect<boolean, Refused> => {
  // If the caller sends the upstream's key, it has the usual header.
  const usual = upstreamKey === undefined ? undefined : Credentials.bearerOf(headers["authorization"])
  const holder = holderOf(keys, headers["inspo-key"] ?? usual ?? "")
  if (holder !== null) return Effect.succeed(holder.scope === "lease")
  const where = upstreamKey === undefined ? "`inspo-key: KEY`" : "`authorization: Bearer KEY`, or `inspo-key: KEY`,"
  return Effect.fail(
    new Refused({ status: 401, code: "key", message: `send the header ${where} with a key of this server` })
  )
}

/** The headers for the upstream: the caller's, except those of one connection or of this server. */
const onward = (headers: Headers.Headers, { upstreamKey }: Options): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !ofConnection.has(name) && !ofThisServer.has(name) && !name.startsWith("inspo-")
    )
  ),
  ...(upstreamKey === undefined ? {} : { authorization: `Bearer ${Redacted.value(upstreamKey)}` })
})

const ofConnection: ReadonlySet<string> = new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])

/** Headers by which the upstream would act on this server's origin in a browser. */
const ofBrowser: ReadonlySet<string> = new Set(["clear-site-data", "service-worker-allowed", "set-cookie"])

const ofThisServer: ReadonlySet<string> = new Set(["content-length", "cookie", "host", "origin", "referer"])

const leaseOf = (inspo: Inspo, population: string, fallback: Wording | undefined, key: string | undefined) =>
  Effect.tryPromise({
    try: () =>
      inspo.lease(population, {
        ...(fallback === undefined ? {} : { fallback }),
        ...(key === undefined ? {} : { key })
      }),
    catch: (cause) =>
      new Refused({
        status: 503,
        code: "no_instruction",
        message: `${messageOf(cause)}, which a marker has as {{inspo:${population}|DEFAULT}}`
      })
  })

/** The fallback without an instruction, if all markers have one. */
const fallbackOf = (markers: ReadonlyArray<Marker.Marker>): Wording | undefined => {
  const known = markers.flatMap(({ fallback, text }) => (fallback === null ? [] : [[text, fallback] as const]))
  const own = known.find(([text]) => text === null)
  if (own !== undefined) return own[1]
  const texts = Object.fromEntries(known.flatMap(([text, fallback]) => (text === null ? [] : [[text, fallback]])))
  const isFullBatch = markers.every(({ text }) => text !== null && Object.hasOwn(texts, text))
  return isFullBatch ? texts : undefined
}

const textsOf =
  (lease: Lease) =>
  (name: string | null): string => {
    if (name === null) return lease.text
    const text = Object.hasOwn(lease.texts, name) ? lease.texts[name] : undefined
    if (text === undefined)
      throw new TypeError(
        `the instruction has the texts ${Object.keys(lease.texts).join(", ")}, and none named ${name}`
      )
    return text
  }

const headersOf = ({ id, instruction, population }: Lease): Readonly<Record<string, string>> => ({
  "inspo-population": population,
  ...(instruction === null ? {} : { "inspo-instruction": instruction }),
  ...(id === null ? { "inspo-unleased": instruction === null ? "default" : "incumbent" } : { "inspo-lease": id })
})

/** The upstream's answer with the headers of the proxy. */
const answer = (
  { body, response }: Answered,
  own: Readonly<Record<string, string>> = {}
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(body, {
    status: response.status,
    headers: {
      ...Object.fromEntries(
        Object.entries(response.headers).filter(
          ([name]) => !ofConnection.has(name) && !ofBrowser.has(name) && !name.startsWith("inspo-")
        )
      ),
      // A browser must not take a document of the upstream for a page of this server.
      "content-security-policy": "sandbox",
      "x-content-type-options": "nosniff",
      ...own
    }
  })

const unanswered = ({ reason }: HttpClientError.HttpClientError) =>
  upstreamFailed(`did not answer (${"cause" in reason ? messageOf(reason.cause) : reason._tag})`)

const upstreamFailed = (what: string, status = 502) =>
  new Refused({ status, code: "upstream", message: `the upstream ${what}` })

const unread = ({ reason }: HttpServerError.HttpServerError) =>
  reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
    ? new Refused({ status: 413, code: "too_large", message: `the body has more than ${Limits.bodyBytes} bytes` })
    : new Refused({ status: 400, code: "body", message: "the body cannot be read" })

/** Null for a text that is not JSON, which the upstream refuses itself. */
const jsonOf = (bytes: Uint8Array): string | null => {
  try {
    const text = utf8.decode(bytes)
    JSON.parse(text.replace(/^\uFEFF/u, ""))
    return text
  } catch {
    return null
  }
}

/** Decodes without a loss: encoding the text returns the same bytes. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The key of a conversation's lease; undefined without a name of the conversation. */
const keyOf = (headers: Headers.Headers, json: string): Effect.Effect<string | undefined, Refused> => {
  const [field, key] = headers["inspo-conversation"]
    ? ["inspo-conversation", headers["inspo-conversation"]]
    : ["user", JsonPosition.field(json, "user") || undefined]
  if (key === undefined || (Schema.is(Key)(key) && State.baseKey(key) === key)) return Effect.succeed(key)
  const message =
    `${field} is ${JSON.stringify(key.slice(0, 100))} with ${key.length} characters; expected at most ` +
    `${Limits.nameLength} of well-formed Unicode, without #i and digits at the end. Send another name of the conversation`
  return Effect.fail(new Refused({ status: 400, code: "conversation", message }))
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
