/** Checks keys, counts requests, and refuses malformed ones. */
import { Credentials, Malformed } from "@inspo/http/server"
import { Cause, Effect, Exit, Layer, Predicate, Redacted, Schema, SchemaIssue } from "effect"
import { type Headers, HttpMethod, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type HttpApiEndpoint, HttpApiError } from "effect/http-api"
import { RateLimiter } from "effect/persistence"
import { Forbidden, InvalidRequest, TooLarge, TooManyRequests, Unauthorized } from "../../wire/Errors.ts"
import * as Metrics from "../../live/internal/Metrics.ts"
import * as Limits from "../../wire/Limits.ts"
import { AdminScope, Admission, LeaseScope } from "../../wire/Security.ts"

/** The keys of requests. Without an admin's key none is required, which is safe on loopback alone. */
export interface Keys {
  readonly admin?: Redacted.Redacted
  /** Its scope is leases, rewards, rewinds and the incumbent. */
  readonly lease?: Redacted.Redacted
  /** Further keys by name, as they are at the time of a request; none is accepted without an admin's key. */
  readonly named?: () => Readonly<Record<string, NamedKey>>
}

/** A key that a config file may have, since it does not reveal what its holders send. */
export const NamedKey = Schema.Struct({
  scope: Schema.Literals(["admin", "lease"]),
  // A request without a key would have the hash of no text, which an unset variable leads to.
  sha256: Schema.String.check(
    Schema.isPattern(/^(?!e3b0c44298fc1c149afbf4c8996fb924)[0-9a-f]{64}$/u, {
      expected: "the SHA-256 of a key that is not empty, in 64 hexadecimal digits"
    })
  )
})
export type NamedKey = typeof NamedKey.Type

/** Who sends a key, by its name, and what it allows. */
export interface Holder extends Pick<NamedKey, "scope"> {
  readonly name: string
}

/** The holder of a key; null if this server has no such key. */
export const holderOf = (
  { admin, lease, named = () => ({}) }: Keys,
  given: Redacted.Redacted | string
): Holder | null => {
  if (admin === undefined) return { name: "none", scope: "admin" }
  const text = typeof given === "string" ? given : Redacted.value(given)
  if (Credentials.isSecret(text, admin)) return { name: "admin", scope: "admin" }
  if (lease !== undefined && Credentials.isSecret(text, lease)) return { name: "lease", scope: "lease" }
  const found = Object.entries(named()).find(([, { sha256 }]) => Credentials.isHashed(text, sha256))
  return found === undefined ? null : { name: found[0], scope: found[1].scope }
}

/** What the routes of a server share: its keys, their rate, and the places of requests that are handled. */
export interface Gate {
  readonly keys: Keys
  readonly withinRate: KeyRate
  /** Takes a place; false if none is left. */
  readonly enter: () => boolean
  readonly leave: () => void
  /** Notes a defect of a handler. */
  readonly defect: (message: string) => Effect.Effect<void>
}

export const make = (keys: Keys): Effect.Effect<Gate> =>
  Effect.map(Effect.all([keyRate, Metrics.faults("defect")]), ([withinRate, defect]) => {
    let waiting = 0
    const enter = () => waiting < Limits.requestsWaiting && ++waiting > 0
    return { keys, withinRate, enter, leave: () => void waiting--, defect }
  })

/** The middleware of all routes. */
export const layer = (gate: Gate) => Layer.merge(layerAdmission(gate), layerKeys(gate))

const layerAdmission = ({ defect: note, enter, leave }: Gate) =>
  Layer.succeed(Admission, (answer) =>
    Effect.andThen(
      arrived,
      Effect.acquireUseRelease(
        Effect.suspend(() => (enter() ? Effect.void : Effect.fail(tooMany))),
        () => Effect.map(answer, asProblem),
        () => Effect.sync(leave)
      )
    ).pipe(
      Effect.catch(malformed),
      Effect.catchDefect((defect) => (isTooLarge(defect) ? Effect.fail(tooLarge) : Effect.die(defect))),
      Effect.tapDefect((defect) => note(`a request met a defect: ${Cause.pretty(Cause.die(defect))}`))
    )
  )

/** The library refuses a content type that no route reads with a text. */
const asProblem = (answer: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse => {
  if (answer.status !== 415 || answer.headers["content-type"]?.startsWith("text/plain") !== true) return answer
  const problem = {
    type: "urn:inspo:invalid-request",
    title: "Invalid request",
    status: 415,
    field: "content-type",
    detail: "content-type: expected application/json"
  }
  return HttpServerResponse.jsonUnsafe(problem, { status: 415, contentType: "application/problem+json" })
}

/** Waits for the body of a request, so that a stalled upload takes no place. A fault of the body is reported by its reader. */
const arrived = HttpServerRequest.HttpServerRequest.use((request) =>
  HttpMethod.isHttpMethod(request.method) && HttpMethod.hasBody(request.method)
    ? Effect.exit(request.arrayBuffer)
    : Effect.void
)

/** A malformed request is the client's error; a malformed answer is a defect of the server. */
const malformed = <E>(error: E): Effect.Effect<never, E | InvalidRequest> => {
  if (!HttpApiError.HttpApiSchemaError.is(error)) return Effect.fail(error)
  return error.kind === "Body" || error.kind === "ResponseHeaders" ? Effect.die(error) : Effect.fail(problem(error))
}

/** The fault of a request, the deepest of several. */
const problem = ({ cause: { issue }, kind }: HttpApiError.HttpApiSchemaError): InvalidRequest => {
  const input = inputOf(issue)
  const isDeep = depth(input) > deepestValue
  const fault = isDeep ? tooDeep : Malformed.deepest(issue)
  const field = fault.path.length === 0 ? places[kind] : Malformed.fieldOf(fault.path)
  return new InvalidRequest({
    field,
    value: isDeep
      ? `nested in more than ${deepestValue} levels`
      : Malformed.shown(Malformed.valueAt(input, fault.path), "absent"),
    expected: fault.expected,
    remedy: `Look up ${field} in /openapi.json`,
    detail: `${field}: expected ${fault.expected}`
  })
}

/** No request of the API is nested half as deeply. A deeper value cannot be printed without a stack overflow. */
const deepestValue = 32

const tooDeep: Malformed.Problem = { path: [], expected: `at most ${deepestValue} levels of arrays and objects` }

/** How deeply a value is nested, as far as {@link deepestValue} and one more. */
const depth = (value: unknown): number => {
  let level = [value].filter(Predicate.isObjectOrArray)
  let levels = 0
  while (level.length > 0 && levels <= deepestValue) {
    levels++
    level = level.flatMap((one) => Object.values(one)).filter(Predicate.isObjectOrArray)
  }
  return levels
}

const places: Readonly<Record<HttpApiError.HttpApiSchemaError["kind"], string>> = {
  Params: "path",
  Headers: "headers",
  Query: "query",
  Payload: "body",
  Body: "answer",
  ResponseHeaders: "answer"
}

/** What was parsed; a filter or an encoding wraps the issue that holds it. */
const inputOf = (issue: SchemaIssue.Issue): unknown => {
  if (SchemaIssue.hasInput(issue)) return issue.input
  return issue._tag === "Filter" || issue._tag === "Encoding" ? inputOf(issue.issue) : undefined
}

const tooMany = new TooManyRequests({
  retryAfter: 1,
  limit: `${Limits.requestsWaiting} requests at a time`,
  remedy: "Send the request again in a second",
  detail: "The maximum number of requests is waiting already."
})

/** A body without a `content-length`. */
const isTooLarge = (defect: unknown): boolean =>
  defect instanceof HttpServerError.HttpServerError &&
  defect.reason._tag === "RequestParseError" &&
  defect.reason.reason === "BodyTooLarge"

const tooLarge = new TooLarge({
  field: "body",
  size: null,
  limit: Limits.bodyBytes,
  remedy: "Send less at once",
  detail: `The body has more than ${Limits.bodyBytes} bytes.`
})

const layerKeys = ({ keys, withinRate }: Gate) => {
  const admit = (holder: Holder | null, scope: Holder["scope"]): Effect.Effect<Holder, Unauthorized | Forbidden> => {
    if (holder === null)
      return Effect.fail(
        new Unauthorized({ detail: "Send the header `authorization: Bearer KEY` with a key of this server." })
      )
    return scope === "lease" || holder.scope === "admin"
      ? Effect.succeed(holder)
      : Effect.fail(
          new Forbidden({ scope, detail: "The key is for leases and rewards; this route requires the admin's." })
        )
  }
  return Layer.mergeAll(
    Layer.succeed(LeaseScope, {
      leaseKey: (answer, { credential }) =>
        admit(holderOf(keys, credential), "lease").pipe(
          Effect.andThen(({ scope }) =>
            scope === "lease"
              ? HttpServerRequest.HttpServerRequest.use(({ headers }) => withinRate(headers))
              : Effect.void
          ),
          Effect.andThen(answer)
        )
    }),
    Layer.succeed(AdminScope, {
      adminKey: (answer, { credential, endpoint }) => {
        // The key may be withdrawn before the answer.
        const holder = holderOf(keys, credential)
        return Effect.onExit(Effect.andThen(admit(holder, "admin"), answer), (exit) => audit(endpoint, holder, exit))
      }
    })
  )
}

/** One log line for each request of a known holder that may change something, with its outcome. The path can contain what users call a lease. */
const audit = (
  { identifier, method, path }: HttpApiEndpoint.Top,
  holder: Holder | null,
  exit: Exit.Exit<HttpServerResponse.HttpServerResponse, unknown>
): Effect.Effect<void, never, HttpServerRequest.HttpServerRequest> => {
  if (method === "GET" || holder === null) return Effect.void
  const error = Exit.isSuccess(exit) ? exit.value : Cause.squash(exit.cause)
  // That of a handler is wrapped.
  const answer = Predicate.hasProperty(error, "error") ? error.error : error
  const outcome = Predicate.hasProperty(answer, "status") ? answer.status : 500
  return HttpServerRequest.HttpServerRequest.use(({ url }) =>
    Effect.annotateLogs(Effect.logInfo("audit"), {
      key: holder.name,
      action: identifier,
      population: path.includes(":name") ? (/^\/v1\/populations\/([^/?]+)/u.exec(url)?.[1] ?? "") : "all",
      outcome
    })
  )
}

/** The rate limit of the lease key. */
export type KeyRate = (headers: Headers.Headers) => Effect.Effect<void, TooManyRequests>

/** Refuses requests with the lease key beyond its rate, by requests and by the bytes of their bodies. */
export const keyRate: Effect.Effect<KeyRate> = Effect.map(
  Effect.provide(RateLimiter.make, RateLimiter.layerStoreMemory),
  (limiter): KeyRate =>
    (headers) => {
      // A body of unknown length counts as the largest.
      const largest = headers["transfer-encoding"] === undefined ? 0 : Limits.bodyBytes
      const bytes = Number(headers["content-length"] ?? largest)
      const rate = { algorithm: "token-bucket", onExceeded: "fail", window: "1 second" } as const
      return limiter.consume({ ...rate, key: "requests", limit: Limits.requestsPerSecond }).pipe(
        Effect.andThen(limiter.consume({ ...rate, key: "bytes", limit: Limits.bytesPerSecond, tokens: bytes })),
        Effect.mapError(() => exceeded)
      )
    }
)

const exceeded = new TooManyRequests({
  retryAfter: 1,
  limit: `${Limits.requestsPerSecond} requests and ${Limits.bytesPerSecond} bytes per second`,
  remedy: "Wait a second, and send more leases or rewards in one request",
  detail: "The lease key has reached its rate limit."
})
