import { createHash, timingSafeEqual } from "node:crypto"
import { Effect, type FileSystem, Layer, type Path, type PlatformError, Redacted } from "effect"
import {
  type Etag,
  type HttpPlatform,
  HttpRouter,
  HttpServerRequest,
  HttpServerResponse,
  HttpStaticServer
} from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "./Api.ts"
import * as Handlers from "./Handlers.ts"
import type { RunCatalog } from "./RunCatalog.ts"
import * as Runs from "./Runs.ts"
import * as Trajectories from "./Trajectories.ts"

export interface Options {
  /** Folder of the built page. */
  readonly assets: string
  /** Names under which the page may be asked for, besides those of this machine. */
  readonly hosts?: ReadonlyArray<string>
  /** Asked for as the password of HTTP's basic authentication; anyone may look by default. */
  readonly password?: Redacted.Redacted
  readonly poll?: Runs.Options["poll"]
  readonly search?: Runs.Options["search"]
}

/**
 * The dashboard as routes: the page, the views of its runs under `/api`, and their changes as server-sent events. Every
 * answer forbids the browser to load anything from elsewhere.
 */
export const layer = (
  options: Options
): Layer.Layer<
  never,
  PlatformError.PlatformError,
  HttpRouter.HttpRouter | RunCatalog | FileSystem.FileSystem | Path.Path | HttpPlatform.HttpPlatform | Etag.Generator
> => {
  const { poll = "500 millis", search = "2 seconds" } = options
  return Layer.mergeAll(
    HttpApiBuilder.layer(Api).pipe(
      Layer.provide(Handlers.layer),
      Layer.provide(Trajectories.layer),
      Layer.provide(Runs.layer({ poll, search }))
    ),
    HttpStaticServer.layer({ root: options.assets, cacheControl: "no-cache" }),
    guard(options)
  )
}

/**
 * Refuses requests under a foreign name, so that no web page elsewhere can read runs through a name that it points at this
 * machine, and those without the password.
 */
const guard = ({ hosts = [], password }: Options) => {
  const names = new Set([...loopback, ...hosts])
  return HttpRouter.middleware(
    (answer) =>
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        if (!names.has(hostName(headers["host"] ?? "")))
          return protect(HttpServerResponse.text("The dashboard is not known by this name.\n", { status: 403 }))
        if (password !== undefined && !matches(headers["authorization"], password))
          return protect(
            HttpServerResponse.text("The password is missing or wrong.\n", {
              status: 401,
              headers: { "www-authenticate": 'Basic realm="inspo"' }
            })
          )
        return protect(yield* answer)
      }),
    { global: true }
  )
}

const loopback = ["localhost", "127.0.0.1", "[::1]"]

/** A `Host` header without its port. */
const hostName = (host: string): string => host.replace(/:\d+$/u, "")

const protect = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeaders(response, {
    "content-security-policy": contentSecurityPolicy,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin"
  })

/** Only what this server itself serves; nothing inline. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

/** Whether the header brings the password, under whatever user name. */
const matches = (header: string | undefined, password: Redacted.Redacted): boolean => {
  const [, encoded] = /^Basic\s+(.+)$/iu.exec(header ?? "") ?? []
  if (encoded === undefined) return false
  const decoded = Buffer.from(encoded, "base64").toString("utf8")
  const given = decoded.slice(decoded.indexOf(":") + 1)
  return timingSafeEqual(digest(given), digest(Redacted.value(password)))
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()
