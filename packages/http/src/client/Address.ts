/** Addresses of servers as written, with a name and password. */
import { Option, type Redacted, Result } from "effect"
import { HttpClientRequest } from "effect/http"

/** `request` carries the credentials; `shown` is the address without them, its query and a slash at its end. */
export interface Address {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly shown: string
}

/**
 * Parses an HTTP address; none if it is invalid. A key is sent as `Authorization: Bearer …`, else a name and password in the
 * address as basic authentication. An invalid address may contain a password anywhere, so no error should show it.
 *
 * @example
 * ```ts
 * import { Address } from "@inspo/http/client"
 *
 * const address = Address.parse("http://me:secret@127.0.0.1:8000/v1/") // shown: http://127.0.0.1:8000/v1
 * ```
 */
export const parse = (url: string, key?: Redacted.Redacted): Option.Option<Address> => {
  const parsed = URL.parse(url)
  if (parsed === null || !["http:", "https:"].includes(parsed.protocol)) return Option.none()
  const { password, username } = parsed
  parsed.username = ""
  parsed.password = ""
  parsed.pathname = parsed.pathname.replace(/\/+$/u, "")
  return Option.some({
    shown: `${parsed.origin}${parsed.pathname.replace(/\/$/u, "")}`,
    request: authorised(HttpClientRequest.get(parsed), username, password, key)
  })
}

const authorised = (
  request: HttpClientRequest.HttpClientRequest,
  username: string,
  password: string,
  key: Redacted.Redacted | undefined
): HttpClientRequest.HttpClientRequest => {
  if (key !== undefined) return HttpClientRequest.bearerToken(request, key)
  return username === "" ? request : HttpClientRequest.basicAuth(request, decoded(username), decoded(password))
}

/** A part of an address without its escapes; unchanged if they are invalid. */
const decoded = (text: string): string =>
  Result.getOrElse(
    Result.try(() => decodeURIComponent(text)),
    () => text
  )
