/** What the environment names a secret, which no log and no message may show. */

/** A text without the secrets of the environment. */
export const redacted = (text: string): string =>
  Object.entries(process.env).reduce(
    (kept, [name, secret = ""]) =>
      /key|token|secret|password|credential/iu.test(name) && secret.length >= 8
        ? kept.replaceAll(secret, "REDACTED")
        : kept,
    text
  )
