/** The routes of a server in memory, without a socket. */
import { Effect, Layer, Metric, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import * as Server from "@inspo/serve/http/Server"
import * as Registry from "@inspo/serve/live/Populations"
import * as SqliteStore from "@inspo/serve/store/SqliteStore"

export interface Told {
  readonly status: number
  readonly body: unknown
  readonly headers: Headers
}

const decodeJson = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Json))

export const make = (keys: Server.Keys = {}) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      HttpRouter.toWebHandler(
        Server.layer(keys).pipe(
          Layer.provide(Registry.layer),
          Layer.provide(SqliteStore.layerMemory),
          Layer.provideMerge(HttpServer.layerServices),
          // Other test files in this process have metrics of their own.
          Layer.provideMerge(Layer.sync(Metric.MetricRegistry, () => new Map()))
        ),
        { disableLogger: true, routerConfig: { maxParamLength: 2048 } }
      )
    ),
    ({ dispose }) => Effect.promise(dispose)
  ).pipe(
    Effect.map(
      ({ handler }) =>
        (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
          Effect.promise(async (): Promise<Told> => {
            const isRaw = typeof body === "string" || body instanceof Uint8Array
            const answer = await handler(
              new Request(`http://localhost${path}`, {
                method,
                headers: { "content-type": "application/json", ...headers },
                ...(body === undefined
                  ? {}
                  : { body: isRaw ? new Uint8Array(Buffer.from(body)) : JSON.stringify(body) })
              })
            )
            const isJson = answer.headers.get("content-type")?.includes("json") === true
            const given = isJson ? decodeJson(await answer.text()) : new Uint8Array(await answer.arrayBuffer())
            return { status: answer.status, headers: answer.headers, body: given }
          })
    )
  )
