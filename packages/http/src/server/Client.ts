/** Whom the limits of a server count a request for. */
import { Option, type Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as Credentials from "./Credentials.ts"

export interface Options {
  /** The keys of the server: their holders do not share limits with requests without one. */
  readonly keys?: ReadonlyArray<Redacted.Redacted>
  /** Addresses of reverse proxies. Their `x-forwarded-for` is believed, so that not all their clients count as one. */
  readonly proxies?: ReadonlyArray<string>
}

/** Names the client of a request, by its key and address. */
export const of =
  ({ keys = [], proxies = [] }: Options) =>
  (request: Pick<HttpServerRequest.HttpServerRequest, "headers" | "remoteAddress">): string =>
    `${keys.findIndex((key) => Credentials.isSent(request.headers, key))} ${addressOf(request, new Set(proxies))}`

/** The last address that no trusted proxy has: clients can invent those before it. */
const addressOf = (
  { headers, remoteAddress }: Pick<HttpServerRequest.HttpServerRequest, "headers" | "remoteAddress">,
  proxies: ReadonlySet<string>
): string => {
  const hops = [...(headers["x-forwarded-for"] ?? "").split(","), Option.getOrElse(remoteAddress, () => "")]
    .map(plain)
    .filter((hop) => hop !== "")
  return hops.findLast((hop) => !proxies.has(hop)) ?? hops.at(0) ?? ""
}

/** Without the prefix that sockets for both versions of IP give an address of version 4. */
const plain = (address: string): string => address.trim().replace(/^::ffff:(?=\d+\.)/iu, "")
