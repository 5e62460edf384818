/** Several servers on one database: one is active, the others stand by, pass requests on to it, and take over. */
import type { Journal, JournalError } from "@inspo/journal"
import { Cause, Deferred, type Duration, Effect, type Scope } from "effect"
import {
  HttpClient,
  HttpClientRequest,
  HttpMethod,
  HttpServerRespondable,
  HttpServerRequest,
  HttpServerResponse,
  type HttpServerError
} from "effect/http"
import { NotActive } from "./Errors.ts"
import * as Register from "./internal/Register.ts"
import type { Journals } from "./Journals.ts"

/** What answers a request. */
export type App = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  HttpServerError.HttpServerError,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

export interface Options {
  readonly journals: Journals
  /** Where the others reach this server, such as `http://10.0.0.1:8080`. */
  readonly address: string
  /** How often a standby looks whether the active one is gone; half a second by default. */
  readonly lookEvery?: Duration.Input
  /** How long a request that is passed on waits for its answer; ten seconds by default. */
  readonly patience?: Duration.Input
  /**
   * Begins to be active. What it makes answers until the scope ends, which it does when `own.lost` is told by a journal.
   */
  readonly activate: (own: Own) => Effect.Effect<App, JournalError, Scope.Scope>
}

/** What the active server has. */
export interface Own {
  readonly journals: Journals
  /** The journal of the register, open for writing. */
  readonly register: Journal.Interface
  /** Ends being active: some journal is no longer this server's. */
  readonly lost: (error: JournalError) => Effect.Effect<void>
}

/** Whether this server is the active one, or else where that one answers, as far as is known. */
export type Role = { readonly _tag: "Active" } | { readonly _tag: "Standby"; readonly active: string | null }

export interface Standby {
  readonly role: Effect.Effect<Role>
  /** Answers as the active server, passes on, or tells that none is active. */
  readonly app: App
  /** Never ends, but for a fault of the database that waiting does not mend. */
  readonly ended: Effect.Effect<never, JournalError>
}

/** Takes part as long as the scope lasts. Returns once the role is known; fails where the database cannot be used. */
export const make = Effect.fn("Standby.make")(function* (
  options: Options
): Effect.fn.Return<Standby, JournalError, HttpClient.HttpClient | Scope.Scope> {
  const { activate, address, journals, lookEvery = "500 millis", patience = "10 seconds" } = options
  const pass = passing(yield* HttpClient.HttpClient, patience)
  const known = yield* Deferred.make<void, JournalError>()
  let now: { readonly role: Role; readonly app: App } = standingBy(null, pass)

  const active = Effect.gen(function* () {
    const over = yield* Deferred.make<JournalError>()
    const lost = (error: JournalError) => Effect.asVoid(Deferred.succeed(over, error))
    const register = yield* openRegister(journals, lost)
    yield* Register.append(register, { _tag: "Activated", address })
    const app = yield* activate({ journals, register, lost })
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        now = standingBy(null, pass)
      })
    )
    now = { role: { _tag: "Active" }, app: whileActive(app) }
    yield* Effect.logInfo(`active at ${address}`)
    yield* Deferred.succeed(known, undefined)
    return yield* Effect.flatMap(Deferred.await(over), Effect.fail)
  }).pipe(Effect.scoped)

  const standBy = Effect.fnUntraced(function* (error: JournalError) {
    if (!(yield* Deferred.isDone(known)) ? !isTaken(error) : !passes(error)) return yield* error
    if (!isTaken(error)) yield* Effect.logWarning(`not active any more: ${error.message}`)
    const where = isTaken(error) ? yield* Effect.orElseSucceed(addressOfActive(journals), () => null) : null
    now = standingBy(where === address ? null : where, pass)
    yield* Deferred.succeed(known, undefined)
    yield* Effect.sleep(lookEvery)
  })

  const ended = yield* Deferred.make<never, JournalError>()
  yield* active.pipe(
    Effect.catch(standBy),
    Effect.forever,
    Effect.catchCause((cause) => Effect.andThen(Deferred.failCause(known, cause), Deferred.failCause(ended, cause))),
    Effect.forkScoped
  )
  yield* Deferred.await(known)
  return {
    role: Effect.sync(() => now.role),
    app: Effect.suspend(() => now.app),
    ended: Deferred.await(ended)
  }
})

/** Another server has it, or just came to have it. */
const isTaken = ({ reason }: JournalError): boolean => reason === "locked" || reason === "exists" || reason === "fenced"

/** What waiting mends. */
const passes = (error: JournalError): boolean => isTaken(error) || error.reason === "storage"

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

const standingBy = (active: string | null, pass: (to: string) => App) => ({
  role: { _tag: "Standby", active } as const,
  app: active === null ? notActive : pass(active)
})

/** Seconds after which somebody is active again, as a rule. */
const retryAfter = 1

const notActive: App = Effect.map(HttpServerRespondable.toResponse(new NotActive({ retryAfter })), (response) =>
  HttpServerResponse.setHeader(response, "retry-after", String(retryAfter))
)

/** What is interrupted because being active is over may be asked of the next one. */
const whileActive = (app: App): App =>
  Effect.catchCause(app, (cause) => (Cause.hasInterruptsOnly(cause) ? notActive : Effect.failCause(cause)))

/** Marks what was passed on, so that two servers that take each other for active do not pass it on for ever. */
const passedOn = "inspo-passed-on"

/** Headers of one connection, and those by which a server knows its own address. */
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
  (client: HttpClient.HttpClient, patience: Duration.Input) =>
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
        Effect.timeout(patience),
        Effect.map(HttpServerResponse.fromClientResponse),
        // The active one is gone, and nobody took over yet.
        Effect.catch(() => notActive)
      )
    })
