/** The instruction server over HTTP. */
import type { Guard } from "@inspo/http/server"
import { Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Populations } from "../live/Populations.ts"
import { Api } from "../wire/Api.ts"
import { NotActive } from "../wire/Errors.ts"
import * as LeaseHandlers from "./internal/LeaseHandlers.ts"
import * as Metrics from "../live/internal/Metrics.ts"
import * as AdminHandlers from "./internal/AdminHandlers.ts"
import * as FlagHandlers from "./internal/FlagHandlers.ts"
import * as TelemetryHandlers from "./internal/TelemetryHandlers.ts"
import * as Direct from "./internal/Direct.ts"
import * as Security from "./internal/Security.ts"

export type { Direct } from "./internal/Direct.ts"
export { type Holder, holderOf, type Keys, NamedKey } from "./internal/Security.ts"

/** The routes of the API and `/openapi.json` over {@link Populations}. `/readyz` reports not ready once it `isEnding`. */
export const layer = (keys: Security.Keys = {}, isEnding?: Effect.Effect<boolean>) =>
  Layer.unwrap(Effect.map(Security.make(keys), (gate) => layerOf(gate, isEnding)))

/** The same routes, and a direct way to answers of leases and rewards, which takes less than half the work. */
export const make = Effect.fnUntraced(function* (keys: Security.Keys, isEnding?: Effect.Effect<boolean>) {
  const gate = yield* Security.make(keys)
  return { routes: layerOf(gate, isEnding), direct: yield* Direct.make(gate) }
})

const layerOf = (gate: Security.Gate, isEnding: Effect.Effect<boolean> = Effect.succeed(false)) =>
  HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }).pipe(
    Layer.provide([
      LeaseHandlers.layer,
      AdminHandlers.layer,
      FlagHandlers.layer,
      TelemetryHandlers.layer,
      layerServer(isEnding)
    ]),
    Layer.provide(Security.layer(gate))
  )

/** The answer of the guard before the routes: its refusals are problems like those of the routes. */
export const refuse: NonNullable<Guard.Options["answer"]> = (refusal) => {
  const { field, limit, reason: detail, size, status, value } = refusal
  const members = { status, detail, field }
  const problem =
    size !== undefined && limit !== undefined
      ? { type: "urn:inspo:too-large", title: "Too large", ...members, size, limit, remedy: "Send less at once" }
      : status === 403
        ? { type: "urn:inspo:forbidden", title: "Forbidden host or origin", ...members, value }
        : { type: "urn:inspo:invalid-request", title: "Invalid request", ...members, value }
  return HttpServerResponse.jsonUnsafe(problem, { status, contentType: "application/problem+json" })
}

/** The routes about the server. While `isEnding`, requests are still answered, and none should be sent any more. */
const layerServer = (isEnding: Effect.Effect<boolean>) =>
  HttpApiBuilder.group(
    Api,
    "server",
    Effect.fnUntraced(function* (handlers) {
      const populations = yield* Populations
      return handlers.handleAll({
        healthy: () => Effect.succeed("ok\n"),
        ready: () =>
          Effect.flatMap(isEnding, (is) =>
            is
              ? Effect.fail(new NotActive({ retryAfter: 1, detail: "The server is stopping." }))
              : Effect.succeed("ready\n")
          ),
        metrics: () => Effect.flatMap(populations.list, Metrics.format)
      })
    })
  )
