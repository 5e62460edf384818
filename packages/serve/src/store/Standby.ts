/** Several servers on one database: one is active, the others are on standby, forward requests to it, and take over. */
import { type Journal, JournalError } from "@inspo/journal"
import { Cause, Deferred, Effect, Metric, type Scope } from "effect"
import {
  HttpClient,
  HttpClientRequest,
  HttpMethod,
  HttpServerRespondable,
  HttpServerRequest,
  HttpServerResponse,
  type HttpServerError
} from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { NotActive, Unauthorized } from "../wire/Errors.ts"
import * as Register from "./internal/Register.ts"
import type { Journals } from "./Journals.ts"

/** Answers a request. */
export type App = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  HttpServerError.HttpServerError,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

export interface Options<E> {
  readonly journals: Journals
  /** The address at which the others reach this server, such as `http://10.0.0.1:8080`. */
  readonly address: string
  /** Whether the `authorization` of a request for the metrics has a key of the server; any has by default. */
  readonly admits?: (authorization: string | undefined) => boolean
  /**
   * Becomes active. The returned app answers until the scope ends, which happens once a journal calls `own.lost`. After a
   * failure the server retries if another server is active or the database failed, and ends otherwise.
   */
  readonly activate: (own: Own) => Effect.Effect<App, JournalError | E, Scope.Scope>
}

/** The resources of the active server. */
export interface Own {
  readonly journals: Journals
  /** The journal of the register, open for writing. */
  readonly register: Journal.Interface
  /** Ends the active role: a journal no longer belongs to this server. */
  readonly lost: (error: JournalError) => Effect.Effect<void>
}

/** Whether this server is active, or else the address of the active one, null if it is unknown. */
export type Role = { readonly _tag: "Active" } | { readonly _tag: "Standby"; readonly active: string | null }

/** A server that is active or on standby. */
export interface Standby<E> {
  readonly role: Effect.Effect<Role>
  /** Answers as the active server, forwards, or reports that none is active. `/readyz` returns the role; `/healthz` is its own. */
  readonly app: App
  /** Fails after a fault that a retry cannot fix. */
  readonly ended: Effect.Effect<never, JournalError | E>
}

/** The metric of its role. */
export const isActive = Metric.gauge("inspo_server_active", {
  description: "1 if this server is the active one of its database, 0 on standby"
})

/** Runs as long as the scope lasts. Returns once the role is known; fails if the database cannot be used. */
export const make = Effect.fn("Standby.make")(function* <E>(
  options: Options<E>
): Effect.fn.Return<Standby<E>, JournalError | E, HttpClient.HttpClient | Scope.Scope> {
  const { activate, address, journals } = options
  const pass = passing(yield* HttpClient.HttpClient)
  const known = yield* Deferred.make<void, JournalError | E>()
  let now: Now = standingBy(null, pass)
  const become = (next: Now) => {
    now = next
    return Metric.update(isActive, next.role._tag === "Active" ? 1 : 0)
  }
  yield* become(now)

  const active = Effect.gen(function* () {
    const over = yield* Deferred.make<JournalError>()
    const lost = (error: JournalError) => Effect.asVoid(Deferred.succeed(over, error))
    const register = yield* openRegister(journals, lost)
    yield* Register.append(register, { _tag: "Activated", address })
    const app = yield* activate({ journals, register, lost })
    yield* Effect.addFinalizer(() => become(standingBy(null, pass)))
    yield* become({ role: { _tag: "Active" }, app: whileActive(app) })
    yield* Effect.logInfo(`active at ${address}`)
    yield* Deferred.succeed(known, undefined)
    return yield* Effect.flatMap(Deferred.await(over), Effect.fail)
  }).pipe(Effect.scoped)

  const standBy = Effect.fnUntraced(function* (error: JournalError | E) {
    const begun = yield* Deferred.isDone(known)
    if (!(error instanceof JournalError) || !(isTaken(error) || (begun && error.reason === "storage")))
      return yield* Effect.fail(error)
    if (!isTaken(error)) yield* Effect.logWarning(`no longer active: ${error.message}`)
    const where = isTaken(error) ? yield* Effect.orElseSucceed(addressOfActive(journals), () => null) : null
    yield* become(standingBy(where === address ? null : where, pass))
    yield* Deferred.succeed(known, undefined)
    // A standby checks again whether the active server is gone.
    yield* Effect.sleep("500 millis")
  })

  const ended = yield* Deferred.make<never, JournalError | E>()
  yield* active.pipe(
    Effect.catch(standBy),
    Effect.forever,
    Effect.catchCause((cause) => Effect.andThen(Deferred.failCause(known, cause), Deferred.failCause(ended, cause))),
    Effect.forkScoped
  )
  yield* Deferred.await(known)
  return {
    role: Effect.sync(() => now.role),
    app: Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      (request) => ofThisServer(request, now.role, options.admits ?? (() => true)) ?? now.app
    ),
    ended: Deferred.await(ended)
  }
})

/** Whether another server is active. */
const isTaken = ({ reason }: JournalError): boolean => reason === "locked" || reason === "exists" || reason === "fenced"

const openRegister = (journals: Journals, lost: Own["lost"]) =>
  Effect.catchIf(
    journals.open(Register.run, "open", lost),
    ({ reason }) => reason === "missing",
    () => journals.open(Register.run, "create", lost)
  )

const addressOfActive = (journals: Journals) =>
  Effect.scoped(
    Effect.flatMap(
      journals.open(Register.run, "read-only", () => Effect.void),
      (journal) => Effect.map(Register.read(journal), ({ address }) => address)
    )
  )

interface Now {
  readonly role: Role
  readonly app: App
}

const standingBy = (active: string | null, pass: (to: string) => App) => ({
  role: { _tag: "Standby" as const, active },
  app: active === null ? notActive : pass(active)
})

/** Seconds after which a server is usually active again. */
const retryAfter = 1

const notActive: App = Effect.map(HttpServerRespondable.toResponse(new NotActive({ retryAfter })), (response) =>
  HttpServerResponse.setHeader(response, "retry-after", String(retryAfter))
)

/** A request that is interrupted as the role ends may be sent to the next active server. */
const whileActive = (app: App): App =>
  Effect.catchCause(app, (cause) => (Cause.hasInterruptsOnly(cause) ? notActive : Effect.failCause(cause)))

const unauthorized = new Unauthorized({
  detail: "Send the header `authorization: Bearer KEY` with a key of this server."
})

/** The routes that each server answers about itself. */
const ofThisServer = (
  { headers, url }: Pick<HttpServerRequest.HttpServerRequest, "headers" | "url">,
  role: Role,
  admits: NonNullable<Options<never>["admits"]>
): App | undefined => {
  switch (url) {
    case "/healthz":
      return Effect.succeed(HttpServerResponse.text("ok\n"))
    case "/metrics":
      if (!admits(headers["authorization"])) return HttpServerRespondable.toResponse(unauthorized)
      return Effect.map(PrometheusMetrics.format(), (text) => HttpServerResponse.text(text))
    case "/readyz":
      if (role._tag === "Active") return Effect.succeed(HttpServerResponse.text("active\n"))
      return role.active === null
        ? notActive
        : Effect.succeed(HttpServerResponse.text(`standby, ${role.active} is active\n`))
    default:
      return undefined
  }
}

/** Marks forwarded requests, so that two servers which consider each other active do not forward them without end. */
const passedOn = "inspo-passed-on"

/** Headers of one connection, and those with the server's own address. */
const ownHeaders = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "host",
  "keep-alive",
  "origin",
  "transfer-encoding"
])

const passing =
  (client: HttpClient.HttpClient) =>
  (to: string): App =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { method } = request
      if (request.headers[passedOn] !== undefined || !HttpMethod.isHttpMethod(method)) return yield* notActive
      const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !ownHeaders.has(name)))
      const body = new Uint8Array(yield* request.arrayBuffer)
      const asked = HttpClientRequest.make(method)(`${to}${request.url}`).pipe(
        HttpClientRequest.setHeaders({ ...headers, [passedOn]: "1" }),
        body.length === 0
          ? (empty) => empty
          : HttpClientRequest.bodyUint8Array(body, request.headers["content-type"] ?? "application/json")
      )
      return yield* client.execute(asked).pipe(
        Effect.timeout("10 seconds"),
        Effect.map(HttpServerResponse.fromClientResponse),
        // The active server is gone, and no other has taken over yet.
        Effect.catch(() => notActive)
      )
    })
