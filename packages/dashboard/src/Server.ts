import { Credentials } from "@inspo/http/server"
import { Effect, type FileSystem, Layer, type Path, type PlatformError, type Redacted } from "effect"
import {
  type Etag,
  HttpMiddleware,
  HttpPlatform,
  HttpRouter,
  HttpServerRequest,
  HttpServerResponse,
  HttpStaticServer
} from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "./Api.ts"
import * as Assets from "./Assets.ts"
import * as Deltas from "./Deltas.ts"
import * as Handlers from "./Handlers.ts"
import type { RunCatalog } from "./RunCatalog.ts"
import * as Runs from "./Runs.ts"
import type { SearchCatalog } from "./SearchCatalog.ts"
import * as Searches from "./Searches.ts"
import * as Trajectories from "./Trajectories.ts"

export interface Options {
  /** Folder of the built page. */
  readonly assets: string
  /** The password of HTTP basic authentication; none by default. */
  readonly password?: Redacted.Redacted
  readonly poll?: Runs.Options["poll"]
  readonly search?: Runs.Options["search"]
}

/**
 * The routes of the dashboard: the page, the views of runs and searches under `/api`, and their changes as server-sent events. Every
 * response forbids the browser to load anything from other servers. Serve the routes behind the `Guard` of `@inspo/http`, which refuses
 * requests of pages of other origins.
 */
export const layer = (
  options: Options
): Layer.Layer<
  never,
  PlatformError.PlatformError,
  | HttpRouter.HttpRouter
  | RunCatalog
  | SearchCatalog
  | FileSystem.FileSystem
  | Path.Path
  | HttpPlatform.HttpPlatform
  | Etag.Generator
> => {
  const { poll = "500 millis", search = "2 seconds" } = options
  return Layer.mergeAll(
    HttpApiBuilder.layer(Api).pipe(
      Layer.provide(Handlers.layer),
      Layer.provide(Trajectories.layer),
      Layer.provide(Searches.layer({ search })),
      Layer.provide(Runs.layer({ poll, search }))
    ),
    Deltas.layer,
    page(options.assets),
    compressed(/^(?:text\/(?:html|css|javascript)|application\/(?:javascript|json|problem\+json)|image\/svg)/u),
    protectedBy(options)
  )
}

/** The routes of the page of served populations, which uses the API of the same server. `assets` is the folder of the built page; it exists. */
export const layerPopulations = ({
  assets
}: Pick<Options, "assets">): Layer.Layer<
  never,
  never,
  HttpRouter.HttpRouter | FileSystem.FileSystem | Path.Path | HttpPlatform.HttpPlatform | Etag.Generator
> =>
  Layer.mergeAll(
    Layer.orDie(page(assets, Assets.populations)),
    // Only the page: responses of the API may contain texts of a client next to secret ids, which compression could reveal.
    compressed(/^(?:text\/(?:html|css|javascript)|application\/javascript|image\/svg)/u),
    protectedBy({})
  )

/** The files of the page. An invalid path, such as a name that is too long, is not found. */
const page = (root: string, index = "index.html") =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const missing = HttpServerResponse.empty({ status: 404 })
      const found = Effect.orElseSucceed(() => missing)
      // The names of assets contain a hash of their content, so that browsers can keep them.
      const cacheControl = "max-age=31536000, immutable"
      yield* router.add("GET", "/*", found(yield* HttpStaticServer.make({ root, index, cacheControl: "no-cache" })))
      yield* router.add("GET", "/assets/*", found(yield* HttpStaticServer.make({ root, cacheControl })))
    })
  )

/** Compresses responses of these types as the browser accepts; events are sent without delay. */
const compressed = (types: RegExp) =>
  HttpRouter.middleware(
    Effect.map(HttpPlatform.HttpPlatform, (platform) => {
      const compress = HttpMiddleware.compression({ compressible: (type) => types.test(type), levels: { br: 6 } })
      return (answer) => Effect.provideService(compress(answer), HttpPlatform.HttpPlatform, platform)
    }),
    { global: true }
  )

/** Refuses requests without the password, and adds headers that restrict the browser. */
const protectedBy = ({ password }: Pick<Options, "password">) =>
  HttpRouter.middleware(
    (answer) =>
      Effect.gen(function* () {
        const { headers, url } = yield* HttpServerRequest.HttpServerRequest
        // Monitoring has no password.
        if (password !== undefined && url !== "/healthz" && !Credentials.isBasic(headers["authorization"], password))
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

const protect = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeaders(response, {
    "content-security-policy": contentSecurityPolicy,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin"
  })

/** Only content of this server, nothing inline. */
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
