import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type { Engine, EngineError } from "@inspo/engine"
import { Catalog } from "@inspo/engine-tinker"
import * as Server from "@inspo/engine-tinker/server"
import { Effect, Layer, type Scope } from "effect"
import { HttpRouter, HttpServer, type HttpServerError } from "effect/http"

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: { readonly [key: string]: unknown }
}

/** A server that listens until the scope closes, and how to ask it. */
export const start = Effect.fnUntraced(function* (
  options: Partial<Server.TinkerServerOptions> = {}
): Effect.fn.Return<
  (
    path: string,
    body?: object | Uint8Array<ArrayBuffer>,
    headers?: Readonly<Record<string, string>>
  ) => Effect.Effect<Answer>,
  EngineError | HttpServerError.ServeError,
  Engine | Scope.Scope
> {
  const catalog = yield* Catalog.memory
  const routes = Layer.provide(
    Server.routes,
    Server.layer({ model: "inspo-tiny", catalog, longPoll: "1 second", ...options })
  )
  const context = yield* HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
    Layer.build
  )
  const { address } = yield* Effect.provideContext(HttpServer.HttpServer, context)
  const base = `http://127.0.0.1:${"port" in address ? address.port : 0}/api/v1/`
  return (path, body, headers = {}) =>
    Effect.promise(async () => {
      const response = await fetch(`${base}${path}`, {
        ...(body === undefined
          ? {}
          : { method: "POST", body: body instanceof Uint8Array ? body : JSON.stringify(body), duplex: "half" }),
        headers
      })
      const text = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        body: text === "" ? {} : (JSON.parse(text) as Answer["body"])
      }
    })
})
