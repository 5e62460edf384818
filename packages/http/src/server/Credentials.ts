/** What a request brings to show that it may ask. */
import { createHash, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"

/** Whether an `Authorization` header brings the key as a bearer token. */
export const isBearer = (header: string | undefined, key: Redacted.Redacted): boolean => {
  const given = /^Bearer\s+(.+)$/iu.exec(header ?? "")?.[1]
  return given !== undefined && isSecret(given, key)
}

/** Whether an `Authorization` header brings the password of basic authentication, under whatever user name. */
export const isBasic = (header: string | undefined, password: Redacted.Redacted): boolean => {
  const encoded = /^Basic\s+(.+)$/iu.exec(header ?? "")?.[1]
  if (encoded === undefined) return false
  const decoded = Buffer.from(encoded, "base64").toString("utf8")
  return isSecret(decoded.slice(decoded.indexOf(":") + 1), password)
}

/** Compares hashes, so that the time it takes reveals nothing about the secret. */
export const isSecret = (given: string, secret: Redacted.Redacted): boolean =>
  timingSafeEqual(digest(given), digest(Redacted.value(secret)))

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()
