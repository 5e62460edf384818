import { createServer, type Server } from "node:http"
import { isIP } from "node:net"
import { Guard } from "@inspo/http/server"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type { Direct } from "@inspo/serve/http/Server"
import { Effect, Layer, Option, type Redacted } from "effect"
import { HttpRouter, HttpServer, HttpServerError, HttpServerResponse } from "effect/http"
import * as Secret from "../config/Secret.ts"
import { commandFailure, type UsageError, usageError } from "../Failure.ts"

/** Where a server listens, and the environment variable with the key that clients must send. */
export interface Address {
  readonly port: number
  readonly host: string
  readonly apiKeyEnv: Option.Option<string>
  /** Addresses of reverse proxies whose `x-forwarded-for` is believed; none by default. */
  readonly trustedProxy?: ReadonlyArray<string>
}

/** The key that clients must send; undefined if none is needed, which is allowed only for clients on this machine. */
export const admission = Effect.fnUntraced(function* ({
  apiKeyEnv,
  host,
  port,
  trustedProxy = []
}: Address): Effect.fn.Return<Redacted.Redacted | undefined, UsageError> {
  if (port < 0 || port > 65_535) return yield* usageError(`--port is ${port}, expected 0 to 65535.`)
  const unknown = trustedProxy.find((address) => isIP(address) === 0)
  if (unknown !== undefined)
    return yield* usageError(`--trusted-proxy is ${unknown}, expected an IP address such as 127.0.0.1.`)
  if (Option.isSome(apiKeyEnv) || loopback.has(host))
    return yield* Secret.ofFlag("--api-key-env", apiKeyEnv, "the key that clients must send")
  return yield* usageError(
    `--host is ${host}, which other machines can reach. Name a key that they must send with --api-key-env, or ` +
      "leave --host out to serve this machine alone."
  )
})

/** `ownHealth`: the routes have their own health check. `direct` is asked first for an answer to what the guard lets through. */
export interface Options extends Pick<Guard.Options, "answer" | "keys" | "isKeyRequired" | "maxBodyBytes" | "isSlow"> {
  readonly ownHealth?: boolean
  readonly direct?: Direct
}

/** Serves routes behind the guard of every server until the scope closes; returns the URL. `name` is what an error calls the server. */
export const listen = Effect.fnUntraced(function* <E, R>(
  name: string,
  { apiKeyEnv, host, port, trustedProxy: proxies = [] }: Address,
  routes: Layer.Layer<never, E, R | HttpRouter.HttpRouter>,
  { direct, ownHealth = false, ...guarded }: Options = {}
) {
  // With a key, or with access from other machines, clients may use any host name.
  const names = Option.isNone(apiKeyEnv) && loopback.has(host) ? [] : "any"
  const guard: Guard.Options = { names, proxies, ...guarded }
  const http = createServer({ requestTimeout })
  const server = HttpRouter.serve(Layer.mergeAll(routes, ownHealth ? Layer.empty : health, Guard.layer(guard)), {
    disableLogger: true,
    disableListenLog: true,
    routerConfig
  })
  const context = yield* server.pipe(
    Layer.provideMerge(NodeHttpServer.layer(() => http, { port, host, gracefulShutdownTimeout: grace })),
    Layer.build,
    Effect.mapError((error) =>
      error instanceof HttpServerError.ServeError
        ? commandFailure(
            `The ${name} cannot listen on ${host} port ${port} (${error.cause instanceof Error ? error.cause.message : String(error.cause)}). ` +
              "Choose another with --port; 0 selects a free one."
          )
        : error
    )
  )
  // A client that asks again over the same connection would keep the server open.
  const hangUp = () => setTimeout(() => http.closeAllConnections(), grace).unref()
  yield* Effect.addFinalizer(() => Effect.sync(hangUp))
  if (direct !== undefined) askFirst(http, guard, direct)
  const { address } = yield* Effect.provideContext(HttpServer.HttpServer, context)
  return `http://${host.includes(":") ? `[${host}]` : host}:${"port" in address ? address.port : port}`
})

/** Asks for a direct answer before the listeners of a server. */
const askFirst = (http: Server, guard: Guard.Options, direct: Direct): void => {
  const listeners = http.listeners("request")
  http.removeAllListeners("request")
  http.on("request", (request, response) => {
    const otherwise = () => {
      for (const listener of listeners) Reflect.apply(listener, http, [request, response])
    }
    const { headers, method = "", url = "" } = request
    if (Guard.isPlain({ headers, method, url }, guard)) direct(request, response, otherwise)
    else otherwise()
  })
}

/** The guard bounds the path. */
export const routerConfig = { maxParamLength: 2048 }

/** Milliseconds for the requests that are open when a server ends. */
const grace = 5_000

/** Milliseconds in which a whole request has to come. */
const requestTimeout = 60_000

/** Whether the server answers, for monitoring; no key is needed. */
const health = HttpRouter.add("GET", "/healthz", HttpServerResponse.jsonUnsafe({ status: "ok" }))

/** Hosts that other machines cannot reach. */
export const loopback: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"])
