/** The instruction server over HTTP: all that the API promises, for whoever brings the right key. */
import { Credentials, type Guard } from "@inspo/http/server"
import { Effect, Layer, Redacted } from "effect"
import { HttpMethod, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder, HttpApiError } from "effect/http-api"
import { Api } from "../wire/Api.ts"
import { Forbidden, type InvalidRequest, TooLarge, TooManyRequests, Unauthorized } from "../wire/Errors.ts"
import * as KeyRate from "./internal/KeyRate.ts"
import * as LeaseHandlers from "./internal/LeaseHandlers.ts"
import * as Malformed from "./internal/Malformed.ts"
import * as PopulationHandlers from "./internal/PopulationHandlers.ts"
import * as ServerHandlers from "./internal/ServerHandlers.ts"
import * as Limits from "../wire/Limits.ts"
import { AdminScope, Admission, LeaseScope } from "../wire/Security.ts"

/** The keys that requests have to bring. Without an admin's key none is asked for, which only loopback may rely on. */
export interface Keys {
  readonly admin?: Redacted.Redacted
  /** Reaches leases, rewards, rewinding and the incumbent alone. */
  readonly lease?: Redacted.Redacted
}

/**
 * The routes of the API, and `/openapi.json`, over the {@link Populations} that are provided. `/readyz` says that the server is not
 * ready once it `isEnding`.
 */
export const layer = (keys: Keys = {}, isEnding: Effect.Effect<boolean> = Effect.succeed(false)) =>
  HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }).pipe(
    Layer.provide([LeaseHandlers.layer, PopulationHandlers.layer, ServerHandlers.layer(isEnding)]),
    Layer.provide([layerAdmission, layerKeys(keys)])
  )

/** How the guard before the routes tells what it refuses: as the problems that the routes tell. */
export const refuse: NonNullable<Guard.Options["answer"]> = (refusal) => {
  const { field, limit, reason: detail, size, status, value } = refusal
  const members = { status, detail, field }
  const problem =
    size !== undefined && limit !== undefined
      ? { type: "urn:inspo:too-large", title: "Too large", ...members, size, limit, remedy: "Send less at once" }
      : status === 403
        ? { type: "urn:inspo:forbidden", title: "Not from there", ...members, value }
        : { type: "urn:inspo:invalid-request", title: "Invalid request", ...members, value }
  return HttpServerResponse.jsonUnsafe(problem, { status, contentType: "application/problem+json" })
}

const layerAdmission = Layer.sync(Admission, () => {
  let waiting = 0
  const enter = Effect.suspend(() =>
    waiting < Limits.requestsWaiting ? Effect.sync(() => void waiting++) : Effect.fail(tooMany)
  )
  const leave = Effect.sync(() => void waiting--)
  return (answer) =>
    Effect.andThen(
      arrived,
      Effect.acquireUseRelease(
        enter,
        () => answer,
        () => leave
      )
    ).pipe(
      Effect.catch(told),
      Effect.catchDefect((defect) => (isTooLarge(defect) ? Effect.fail(tooLarge) : Effect.die(defect)))
    )
})

/** Waits for the body of a request, so that those which stall take no place; what reads it later says what is wrong with it. */
const arrived = HttpServerRequest.HttpServerRequest.use((request) =>
  HttpMethod.isHttpMethod(request.method) && HttpMethod.hasBody(request.method)
    ? Effect.exit(request.arrayBuffer)
    : Effect.void
)

/** A request whose form is wrong is the client's to mend; an answer whose form is, is a fault of ours. */
const told = <E>(error: E): Effect.Effect<never, E | InvalidRequest> => {
  if (!HttpApiError.HttpApiSchemaError.is(error)) return Effect.fail(error)
  return error.kind === "Body" || error.kind === "ResponseHeaders"
    ? Effect.die(error)
    : Effect.fail(Malformed.problem(error))
}

const tooMany = new TooManyRequests({
  retryAfter: 1,
  limit: `${Limits.requestsWaiting} requests at a time`,
  detail: "So many requests wait already. Ask again in a second."
})

/** A body whose length was not told before. */
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

const layerKeys = ({ admin, lease }: Keys) => {
  const is = (given: Redacted.Redacted, key: Redacted.Redacted | undefined) =>
    key !== undefined && Credentials.isSecret(Redacted.value(given), key)
  const admit = (given: Redacted.Redacted, scope: "admin" | "lease"): Effect.Effect<void, Unauthorized | Forbidden> => {
    if (admin === undefined || is(given, admin) || (scope === "lease" && is(given, lease))) return Effect.void
    return is(given, lease)
      ? Effect.fail(
          new Forbidden({ scope, detail: "The key reaches leases and rewards alone; this needs the admin's." })
        )
      : Effect.fail(
          new Unauthorized({ detail: "Send the header `authorization: Bearer KEY` with a key of this server." })
        )
  }
  return Layer.mergeAll(
    Layer.effect(
      LeaseScope,
      Effect.map(KeyRate.make, (withinRate) => ({
        leaseKey: (answer, { credential }) =>
          admit(credential, "lease").pipe(
            Effect.andThen(
              admin !== undefined && is(credential, lease)
                ? HttpServerRequest.HttpServerRequest.use(({ headers }) => withinRate(headers))
                : Effect.void
            ),
            Effect.andThen(answer)
          )
      }))
    ),
    Layer.succeed(AdminScope, {
      adminKey: (answer, { credential }) => Effect.andThen(admit(credential, "admin"), answer)
    })
  )
}
