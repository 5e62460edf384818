/** Refuses requests by host, origin, path and body, before any handler runs. */
import { isIP } from "node:net"
import { ByteSize, Effect, type Layer } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as ClientPermits from "../internal/ClientPermits.ts"
import * as Upload from "../internal/Upload.ts"
import * as Client from "./Client.ts"
import * as Credentials from "./Credentials.ts"

export interface Options extends Client.Options {
  /**
   * Names of the server in addition to `localhost` and addresses; `any` if every request requires a key. Otherwise a foreign
   * web page could point a name of its own at this machine, and would be accepted as a page of this server.
   */
  readonly names: ReadonlyArray<string> | "any"
  /** Whether requests without one of the keys, if there are any, get 401 on all paths but `/healthz`; routes check it themselves by default. */
  readonly isKeyRequired?: boolean
  /** The largest body that is read, in bytes; 4 MiB by default. */
  readonly maxBodyBytes?: number
  /** Paths whose answers wait for other servers: their large bodies are read completely, 32 at a time, 16 of one client; afterwards the route limits them. */
  readonly isSlow?: (path: string) => boolean
  /** The answer to a refused request; JSON with a `detail` by default. */
  readonly answer?: (refusal: Refusal) => HttpServerResponse.HttpServerResponse
}

/** The refused `field` and its value; `size` and `limit` if it is too large. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 408 | 413 | 414
  readonly field: "authorization" | "host" | "origin" | "path" | "body"
  readonly value: string
  readonly reason: string
  readonly size?: number
  readonly limit?: number
}

/**
 * Refuses, on all routes: a request with a foreign host (403) or an invalid one (400), one from a page of another origin (403;
 * a link to a page of this server may be followed), one without a required key (401), a path and query of more than 2,048 characters (414), a body above the limit (413; without a `content-length` reading fails
 * beyond the limit). Requests with a body of more than 1 MiB, or of an unknown length, are handled four at a time, two of one
 * client, and the others wait unread, so that they do not fill the memory. One whose body arrives at less than 4 kB a second
 * for 5 seconds is refused (408, or a closed connection) and frees its place.
 */
export const layer = (options: Options): Layer.Layer<never, never, HttpRouter.HttpRouter> => {
  const { answer: answered = plain, isKeyRequired, isSlow = () => false, keys = [] } = options
  const isAdmitted = ({ headers, url }: HttpServerRequest.HttpServerRequest) =>
    isKeyRequired !== true ||
    keys.length === 0 ||
    url === "/healthz" ||
    keys.some((key) => Credentials.isSent(headers, key))
  const { maxBodyBytes = 4 * 2 ** 20, names } = options
  const clientOf = Client.of(options)
  const large = ClientPermits.make(4)
  const largeAndSlow = ClientPermits.make(32)
  return HttpRouter.middleware(
    (answer) =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        const refused = refusal(request, { names, maxBodyBytes }) ?? (isAdmitted(request) ? null : keyless)
        if (refused !== null) return Effect.succeed(answered(refused))
        if (!isLarge(request)) return answer
        const client = clientOf(request)
        const stalled = Effect.map(Upload.stalled(request), () => answered(tooSlow))
        if (!isSlow(request.url)) return large.withPermit(client)(Effect.raceFirst(answer, stalled))
        // The route reports a fault of the body when it reads it again.
        const arrived = Effect.as(Effect.exit(request.arrayBuffer), null)
        return Effect.flatMap(largeAndSlow.withPermit(client)(Effect.raceFirst(arrived, stalled)), (refused) =>
          refused === null ? answer : Effect.succeed(refused)
        )
      }).pipe(Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(maxBodyBytes))),
    { global: true }
  )
}

/** Whether the guard lets a request through at once: it is neither refused nor {@link isLarge}. */
export const isPlain = (request: Guarded, { maxBodyBytes = 4 * 2 ** 20, names }: Options): boolean =>
  refusal(request, { names, maxBodyBytes }) === null && !isLarge(request)

/** What the guard looks at, in a request of Effect or of Node. */
export interface Guarded {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
}

/** A header that is sent once. */
const textOf = (headers: Guarded["headers"], name: string): string | undefined => {
  const value = headers[name]
  return typeof value === "string" ? value : undefined
}

const refusal = (
  { headers, method, url }: Guarded,
  { maxBodyBytes, names }: Pick<Options, "names"> & { readonly maxBodyBytes: number }
): Refusal | null => {
  const given = textOf(headers, "host")
  const host = printable(given ?? "")
  const origin = textOf(headers, "origin")
  if (names !== "any" && !isOwn(given ?? "", names)) {
    const reason = `${host} is not a name of this server; use localhost or its address`
    return { status: 403, field: "host", value: host, reason }
  }
  if (given !== undefined && given !== "" && !URL.canParse(`http://${given}`)) {
    const reason = `the host is ${host}, expected a name or an address, with a port of at most 65535`
    return { status: 400, field: "host", value: host, reason }
  }
  if (origin !== undefined && origin !== `http://${given}` && origin !== `https://${given}`) {
    const value = printable(origin)
    return { status: 403, field: "origin", value, reason: `pages of ${value} may not send requests to this server` }
  }
  if (isForeign(headers, method)) {
    const value = printable(textOf(headers, "sec-fetch-site") ?? "")
    return {
      status: 403,
      field: "origin",
      value,
      reason: "pages of other origins may not send requests to this server"
    }
  }
  if (url.length > longestUrl)
    return tooLong(414, "path", `the path has ${url.length} characters`, url.length, longestUrl)
  const length = Number(headers["content-length"] ?? 0)
  return length > maxBodyBytes ? tooLong(413, "body", `the body has ${length} bytes`, length, maxBodyBytes) : null
}

/** Whether a browser sends this for a page of another origin, as images and scripts without an `origin`, except to open a document. */
const isForeign = (headers: Guarded["headers"], method: string): boolean => {
  const site = headers["sec-fetch-site"]
  if (site !== "cross-site" && site !== "same-site") return false
  return method !== "GET" || headers["sec-fetch-mode"] !== "navigate" || headers["sec-fetch-dest"] !== "document"
}

const tooLong = (status: 413 | 414, field: "path" | "body", found: string, size: number, limit: number): Refusal => ({
  status,
  field,
  value: String(size),
  reason: `${found}, expected at most ${limit}`,
  size,
  limit
})

const keyless: Refusal = {
  status: 401,
  field: "authorization",
  value: "unknown",
  reason: "the key is missing or wrong; expected a header authorization: Bearer KEY with the key of this server"
}

const tooSlow: Refusal = {
  status: 408,
  field: "body",
  value: "incomplete",
  reason: `the body stopped arriving; expected at least ${Upload.leastRate} bytes a second`
}

const isLarge = ({ headers }: Pick<Guarded, "headers">): boolean =>
  Number(headers["content-length"] ?? 0) > 2 ** 20 || headers["transfer-encoding"] !== undefined

const longestUrl = 2048

/** An address, unlike a name, cannot be pointed at this machine by a stranger. */
const isOwn = (host: string, names: ReadonlyArray<string>): boolean => {
  const name = host.replace(/:\d+$/u, "").toLowerCase()
  return name === "localhost" || isIP(name.replaceAll(/^\[|\]$/gu, "")) !== 0 || names.includes(name)
}

const plain = ({ reason, status }: Refusal) =>
  HttpServerResponse.jsonUnsafe({ error: { message: reason, code: status }, detail: reason }, { status })

/** A foreign text for a log: without control characters, and clipped. */
const printable = (text: string): string => JSON.stringify(text.slice(0, 100))
