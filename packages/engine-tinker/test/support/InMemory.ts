import type { Engine, EngineError } from "@inspo/engine"
import { Catalog } from "@inspo/engine-tinker"
import * as Server from "@inspo/engine-tinker/server"
import { Effect, Layer, Scope } from "effect"
import { HttpClient, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

/** A client whose requests go straight to the routes of a server over an engine: HTTP without sockets. */
export const layer = (
  options: Partial<Server.TinkerServerOptions> = {}
): Layer.Layer<HttpClient.HttpClient | Server.TinkerServer, EngineError, Engine> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const handle = yield* HttpRouter.toHttpEffect(Server.routes)
      return HttpClient.make((request) =>
        handle.pipe(
          Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromClientRequest(request)),
          Effect.map((response) => HttpServerResponse.toClientResponse(response, { request })),
          Effect.orDie,
          Scope.provide(scope)
        )
      )
    })
  ).pipe(
    Layer.provideMerge(
      Layer.unwrap(
        Effect.map(Catalog.memory, (catalog) =>
          Server.layer({ model: "inspo-tiny", catalog, longPoll: "1 second", ...options })
        )
      )
    )
  )
