/** Requests to a language model whose system prompt is filled with a leased instruction on their way to it. */
import type { Inspo, Lease, Wording } from "@inspo/client"
import { Credentials } from "@inspo/http/server"
import { Duration, Effect, Exit, Function, Layer, Option, Redacted, Schema, Stream } from "effect"
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
import * as KeyRate from "./internal/KeyRate.ts"
import * as Marker from "./internal/Marker.ts"
import * as Place from "./internal/Place.ts"
import * as Places from "./internal/Places.ts"
import * as UpstreamPath from "./internal/UpstreamPath.ts"
import * as Limits from "../wire/Limits.ts"
import type { Keys } from "./internal/Security.ts"

export interface Options {
  /** The model's server, without its path behind the version: `https://api.openai.com/v1`. Nothing else is ever asked. */
  readonly upstream: string
  /** The key that the upstream takes; without it the caller's own `authorization` is passed on. */
  readonly upstreamKey?: Redacted.Redacted
  /** The keys that callers have to bring, as for the other routes. */
  readonly keys?: Keys
  /** Leases. How long it waits for an instruction is how much later than without a proxy an answer may come. */
  readonly inspo: Effect.Effect<Inspo>
  /** How long the upstream may say nothing, before its answer and within it; 10 minutes by default. */
  readonly timeout?: Duration.Input
}

/**
 * Whatever is asked for below `/v1` besides populations, passed on to the upstream. In `POST /v1/chat/completions` and `/v1/responses` as
 * OpenAI defines them, `{{inspo:NAME}}` in a system prompt becomes the
 * instruction that the conversation is leased: the header `inspo-conversation`, else `user` of the body, is the key of the lease,
 * and each request without them has a lease of its own. The answer comes as the upstream gives it, streams piece by piece, with
 * the headers `inspo-population`, `inspo-instruction` and `inspo-lease`; where there is no lease in time, `inspo-unleased` says what stood in.
 * Requests without a marker are passed on untouched, and of others all but the marker. A caller that goes away ends the upstream's work.
 */
export const layer = (options: Options): Layer.Layer<never, never, HttpClient.HttpClient | HttpRouter.HttpRouter> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      const withinRate = yield* KeyRate.make
      const places = Places.make({ requests: Limits.requestsProxied, bytes: Limits.bytesProxied })
      return HttpRouter.add("*", "/v1/*", pass({ client, places, withinRate }, options).pipe(Effect.catch(told)))
    })
  )

/** What all requests share. */
interface Shared {
  readonly client: HttpClient.HttpClient
  readonly places: Places.Places
  readonly withinRate: KeyRate.KeyRate
}

/** Whether a request of this path, with or without a query, is passed on. */
export const isPath = (path: string): boolean => typeof UpstreamPath.of(path) === "string"

/** What the proxy itself refuses, in the form of an error of OpenAI. */
class Refused extends Schema.TaggedError<Refused>()("Refused", {
  status: Schema.Int,
  code: Schema.String,
  message: Schema.String
}) {}

const told = ({ code, message, status }: Refused) =>
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
    `${Limits.requestsProxied} requests or ${Limits.bytesProxied} bytes wait for the upstream already, or half of them from ` +
    "your address; ask again in a second"
})

const pass = Effect.fnUntraced(function* ({ client, places, withinRate }: Shared, options: Options) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { method, url } = request
  const path = UpstreamPath.of(url)
  if (path === null || !HttpMethod.isHttpMethod(method)) return HttpServerResponse.empty({ status: 404 })
  if (yield* admit(request.headers, options))
    yield* Effect.mapError(
      withinRate(request.headers),
      ({ detail = "too many requests" }) => new Refused({ status: 429, code: "too_many", message: detail })
    )
  if (typeof path !== "string")
    return yield* new Refused({
      status: 400,
      code: "path",
      message: `the path ${path.refused} cannot be passed on; expected no segments . and .., and nothing escaped twice`
    })
  const bytes = new Uint8Array(yield* Effect.mapError(request.arrayBuffer, unread))
  // Taken once the body is here, so that uploads which stall take no place.
  const address = Option.getOrElse(request.remoteAddress, () => "")
  if (!(yield* places.take(address, bytes.length))) return yield* tooMany
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
  const key = request.headers["inspo-conversation"] ?? userOf(json)
  // Nobody can tell the reward of work that came to nothing, unless the key is the caller's.
  const isLost = (status: number) => status >= 400 && key === undefined
  return yield* Effect.acquireUseRelease(
    leaseOf(yield* options.inspo, marker.population, fallbackOf(markers), key),
    (lease) =>
      Effect.gen(function* () {
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

/** What the upstream answers, as far as it can be passed on. */
const asked = (client: HttpClient.HttpClient, request: HttpClientRequest.HttpClientRequest, timeout: Duration.Input) =>
  HttpClient.withScope(client)
    .execute(request)
    .pipe(
      // Headers of our spans are nobody's business.
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Effect.mapError(unanswered),
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () => Effect.fail(upstreamFailed(`says nothing for ${inWords(timeout)}`, 504))
      }),
      Effect.filterOrFail(
        ({ status }) => status >= 200 && status <= 599,
        ({ status }) => upstreamFailed(`answers with the status ${status}; expected 200 to 599`)
      ),
      Effect.map((response): Answered => ({
        response,
        // What went wrong is told without the request, which holds a key.
        body: Stream.mapError(
          response.stream,
          ({ message }) => new Error(`the upstream ended its answer: ${message}`)
        ).pipe(
          Stream.timeoutOrElse({
            duration: timeout,
            orElse: () => Stream.fail(new Error(`the upstream stopped in its answer for ${inWords(timeout)}`))
          })
        )
      }))
    )

/** An answer of the upstream, and its body as long as that goes on. */
interface Answered {
  readonly response: HttpClientResponse.HttpClientResponse
  readonly body: Stream.Stream<Uint8Array, Error>
}

const inWords = (timeout: Duration.Input) => Duration.format(Duration.fromInputUnsafe(timeout))

/** Whether a request has the lease key; refused if it has no key of this server. */
const admit = (headers: Headers.Headers, { keys = {}, upstreamKey }: Options): Effect.Effect<boolean, Refused> => {
  const { admin, lease } = keys
  if (admin === undefined) return Effect.succeed(false)
  // Where the upstream's key is the caller's, it has the usual header.
  const own = headers["inspo-key"]
  const is = (key: Redacted.Redacted) =>
    own === undefined
      ? upstreamKey !== undefined && Credentials.isBearer(headers["authorization"], key)
      : Credentials.isSecret(own, key)
  if (is(admin)) return Effect.succeed(false)
  if (lease !== undefined && is(lease)) return Effect.succeed(true)
  const where = upstreamKey === undefined ? "`inspo-key: KEY`" : "`authorization: Bearer KEY`, or `inspo-key: KEY`,"
  return Effect.fail(
    new Refused({ status: 401, code: "key", message: `send the header ${where} with a key of this server` })
  )
}

/** What the upstream is told of the caller's headers. */
const onward = (headers: Headers.Headers, { upstreamKey }: Options): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !ofConnection.has(name) && !ofThisServer.has(name) && !name.startsWith("inspo-")
    )
  ),
  ...(upstreamKey === undefined ? {} : { authorization: `Bearer ${Redacted.value(upstreamKey)}` })
})

/** What is said of one connection alone. */
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

/** What stands in where no server told an instruction, as far as every marker says it. */
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
        `the instruction has the texts ${Object.keys(lease.texts).join(", ")}, and none called ${name}`
      )
    return text
  }

const headersOf = ({ id, instruction, population }: Lease): Readonly<Record<string, string>> => ({
  "inspo-population": population,
  ...(instruction === null ? {} : { "inspo-instruction": instruction }),
  ...(id === null ? { "inspo-unleased": instruction === null ? "default" : "incumbent" } : { "inspo-lease": id })
})

/** The upstream's answer as it comes, with headers of ours. */
const answer = (
  { body, response }: Answered,
  own: Readonly<Record<string, string>> = {}
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(body, {
    status: response.status,
    headers: {
      ...Object.fromEntries(
        Object.entries(response.headers).filter(
          ([name]) => !ofConnection.has(name) && name !== "set-cookie" && !name.startsWith("inspo-")
        )
      ),
      ...own
    }
  })

const unanswered = ({ reason }: HttpClientError.HttpClientError) =>
  upstreamFailed(`does not answer (${"cause" in reason ? messageOf(reason.cause) : reason._tag})`)

const upstreamFailed = (what: string, status = 502) =>
  new Refused({ status, code: "upstream", message: `the upstream ${what}` })

const unread = ({ reason }: HttpServerError.HttpServerError) =>
  reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
    ? new Refused({ status: 413, code: "too_large", message: `the body has more than ${Limits.bodyBytes} bytes` })
    : new Refused({ status: 400, code: "body", message: "the body cannot be read" })

/** Null for what is no JSON, which the upstream refuses in its own words. */
const jsonOf = (bytes: Uint8Array): string | null => {
  try {
    const text = utf8.decode(bytes)
    JSON.parse(text.replace(/^\uFEFF/u, ""))
    return text
  } catch {
    return null
  }
}

/** What it reads is the same again when it is written. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const userOf = (json: string): string | undefined => Place.field(json, "user") || undefined

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
