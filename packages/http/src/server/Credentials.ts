/** Checks the credentials of requests. */
import { createHash, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"
import type { Headers } from "effect/http"

/** Whether an `Authorization` header has the key as a bearer token. */
export const isBearer = (header: string | undefined, key: Redacted.Redacted): boolean => {
  const given = bearerOf(header)
  return given !== undefined && isSecret(given, key)
}

/** The bearer token of an `Authorization` header, if it has one. */
export const bearerOf = (header = ""): string | undefined => /^Bearer\s+(.+)$/iu.exec(header)?.[1]

/** Whether an `Authorization` header has the password of basic authentication, with any user name. */
export const isBasic = (header: string | undefined, password: Redacted.Redacted): boolean => {
  const encoded = /^Basic\s+(.+)$/iu.exec(header ?? "")?.[1]
  if (encoded === undefined) return false
  const decoded = Buffer.from(encoded, "base64").toString("utf8")
  return isSecret(decoded.slice(decoded.indexOf(":") + 1), password)
}

/** Whether a request has the key in any of the headers that our servers accept. */
export const isSent = (headers: Headers.Headers, key: Redacted.Redacted): boolean =>
  isBearer(headers["authorization"], key) ||
  isBasic(headers["authorization"], key) ||
  ["inspo-key", "x-api-key"].some((name) => isSecret(headers[name] ?? "", key))

/** Compares hashes, so that the time it takes does not depend on the secret. */
export const isSecret = (given: string, secret: Redacted.Redacted): boolean =>
  timingSafeEqual(digest(given), digest(Redacted.value(secret)))

/** Whether a secret has this SHA-256, in 64 hexadecimal digits. */
export const isHashed = (given: string, sha256: string): boolean =>
  timingSafeEqual(digest(given), Buffer.from(sha256, "hex"))

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()
