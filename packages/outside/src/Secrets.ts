/** What the environment names a secret, which no log and no message may show. */

/**
 * A text without the values, of at least 8 characters, of environment variables that are named like a key, token, secret, password or credential.
 *
 * @example
 * ```ts
 * import { Secrets } from "@inspo/outside"
 *
 * Secrets.redacted("It cannot reach the server.") // the same
 * ```
 */
export const redacted = (text: string): string =>
  Object.entries(process.env).reduce(
    (kept, [name, secret = ""]) =>
      /key|token|secret|password|credential/iu.test(name) && secret.length >= 8
        ? kept.replaceAll(secret, "REDACTED")
        : kept,
    text
  )
