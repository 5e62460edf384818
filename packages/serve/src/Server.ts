/** The instruction server over HTTP: all that the API promises, for whoever brings the right key. */
import { Credentials } from "@inspo/http-server"
import { Effect, Layer, Redacted } from "effect"
import { HttpApiBuilder, HttpApiMiddleware } from "effect/http-api"
import { Api } from "./Api.ts"
import { Forbidden, Unauthorized } from "./Errors.ts"
import * as LeaseHandlers from "./internal/LeaseHandlers.ts"
import * as Malformed from "./internal/Malformed.ts"
import * as PopulationHandlers from "./internal/PopulationHandlers.ts"
import * as ServerHandlers from "./internal/ServerHandlers.ts"
import { AdminScope, Admission, LeaseScope } from "./Security.ts"

/** The keys that requests have to bring. Without an admin's key none is asked for, which only loopback may rely on. */
export interface Keys {
  readonly admin?: Redacted.Redacted
  /** Reaches leases, rewards, rewinding and the incumbent alone. */
  readonly lease?: Redacted.Redacted
}

/** The routes of the API, and `/openapi.json`, over the {@link Populations} that are provided. */
export const layer = (keys: Keys = {}) =>
  HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }).pipe(
    Layer.provide([LeaseHandlers.layer, PopulationHandlers.layer, ServerHandlers.layer]),
    Layer.provide([layerAdmission, layerKeys(keys)])
  )

const layerAdmission = HttpApiMiddleware.layerSchemaErrorTransform(Admission, (error) =>
  error.kind === "Body" || error.kind === "ResponseHeaders" ? Effect.die(error) : Effect.fail(Malformed.problem(error))
)

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
    Layer.succeed(LeaseScope, {
      leaseKey: (answer, { credential }) => Effect.andThen(admit(credential, "lease"), answer)
    }),
    Layer.succeed(AdminScope, {
      adminKey: (answer, { credential }) => Effect.andThen(admit(credential, "admin"), answer)
    })
  )
}
