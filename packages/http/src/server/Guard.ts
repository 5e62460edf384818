/** Refuses what no server of ours should see, before any handler runs. */
import { isIP } from "node:net"
import { ByteSize, Effect, type Layer, Option } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as ClientPermits from "../internal/ClientPermits.ts"
import * as Upload from "../internal/Upload.ts"

export interface Options {
  /**
   * Names under which the server may be asked for, besides `localhost` and addresses; `any` where every request has to bring
   * a key. A web page elsewhere can point a name of its own at this machine, and would be let in as a page of this server.
   */
  readonly names: ReadonlyArray<string> | "any"
  /** The largest body that is read, in bytes; 4 MiB by default. */
  readonly maxBodyBytes?: number
  /** Of paths whose answers wait for others: their large bodies are read whole, 32 at a time, 16 of one client, and bounded by the route after that. */
  readonly isSlow?: (path: string) => boolean
  /** How a refusal is answered; as JSON with a `detail` by default. */
  readonly answer?: (refusal: Refusal) => HttpServerResponse.HttpServerResponse
}

/** What is refused: `field` has the value and was expected otherwise; `size` and `limit` where it is too large. */
export interface Refusal {
  readonly status: 400 | 403 | 408 | 413 | 414
  readonly field: "host" | "origin" | "path" | "body"
  readonly value: string
  readonly reason: string
  readonly size?: number
  readonly limit?: number
}

/**
 * Refuses, whatever the route: a request under a foreign name (403) or under what is none (400), one that a page of another origin makes (403), a path
 * and query of more than 2,048 characters (414), a body above the limit (413, where its length is stated; reading fails
 * beyond the limit where it is not). Requests with a body of more than 1 MiB, or of an unknown length, are answered four at a
 * time, two of one client, and the others wait unread, so that many of them do not fill the memory. One whose body arrives
 * at less than 4 kB a second for 5 seconds is refused (408, or a closed connection) and gives up its place.
 */
export const layer = (options: Options): Layer.Layer<never, never, HttpRouter.HttpRouter> => {
  const { answer: answered = plain, isSlow = () => false, maxBodyBytes = 4 * 2 ** 20, names } = options
  const large = ClientPermits.make(4)
  const largeAndSlow = ClientPermits.make(32)
  return HttpRouter.middleware(
    (answer) =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        const refused = refusal(request, { names, maxBodyBytes })
        if (refused !== null) return Effect.succeed(answered(refused))
        if (!isLarge(request)) return answer
        const client = Option.getOrElse(request.remoteAddress, () => "")
        const stalled = Effect.map(Upload.stalled(request), () => answered(tooSlow))
        if (!isSlow(request.url)) return large.withPermit(client)(Effect.raceFirst(answer, stalled))
        // What is wrong with the body is reported where it is read again.
        const arrived = Effect.as(Effect.exit(request.arrayBuffer), null)
        return Effect.flatMap(largeAndSlow.withPermit(client)(Effect.raceFirst(arrived, stalled)), (refused) =>
          refused === null ? answer : Effect.succeed(refused)
        )
      }).pipe(Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(maxBodyBytes))),
    { global: true }
  )
}

const refusal = (
  { headers, url }: Pick<HttpServerRequest.HttpServerRequest, "headers" | "url">,
  { maxBodyBytes, names }: Pick<Options, "names"> & { readonly maxBodyBytes: number }
): Refusal | null => {
  const host = printable(headers["host"] ?? "")
  const { origin } = headers
  if (names !== "any" && !isOwn(headers["host"] ?? "", names)) {
    const reason = `this server is not known as ${host}; ask for it as localhost or by its address`
    return { status: 403, field: "host", value: host, reason }
  }
  if (headers["host"] !== undefined && headers["host"] !== "" && !URL.canParse(`http://${headers["host"]}`)) {
    const reason = `the host is ${host}, expected a name or an address, with a port of at most 65535`
    return { status: 400, field: "host", value: host, reason }
  }
  if (origin !== undefined && origin !== `http://${headers["host"]}` && origin !== `https://${headers["host"]}`) {
    const value = printable(origin)
    return { status: 403, field: "origin", value, reason: `pages of ${value} may not ask this server` }
  }
  if (url.length > longestUrl)
    return tooLong(414, "path", `the path has ${url.length} characters`, url.length, longestUrl)
  const length = Number(headers["content-length"] ?? 0)
  return length > maxBodyBytes ? tooLong(413, "body", `the body has ${length} bytes`, length, maxBodyBytes) : null
}

const tooLong = (status: 413 | 414, field: "path" | "body", found: string, size: number, limit: number): Refusal => ({
  status,
  field,
  value: String(size),
  reason: `${found}, expected at most ${limit}`,
  size,
  limit
})

const tooSlow: Refusal = {
  status: 408,
  field: "body",
  value: "incomplete",
  reason: `the body stopped arriving; expected at least ${Upload.leastRate} bytes a second`
}

const isLarge = ({ headers }: Pick<HttpServerRequest.HttpServerRequest, "headers">): boolean =>
  Number(headers["content-length"] ?? 0) > 2 ** 20 || headers["transfer-encoding"] !== undefined

const longestUrl = 2048

/** An address cannot be pointed elsewhere by the owner of a name. */
const isOwn = (host: string, names: ReadonlyArray<string>): boolean => {
  const name = host.replace(/:\d+$/u, "").toLowerCase()
  return name === "localhost" || isIP(name.replaceAll(/^\[|\]$/gu, "")) !== 0 || names.includes(name)
}

const plain = ({ reason, status }: Refusal) =>
  HttpServerResponse.jsonUnsafe({ error: { message: reason, code: status }, detail: reason }, { status })

/** What a stranger wrote, fit for a log: no control characters, not endless. */
const printable = (text: string): string => JSON.stringify(text.slice(0, 100))
