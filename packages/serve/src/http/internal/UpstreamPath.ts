/** Maps addresses of this server to those of the upstream, which have the same path after their version. */

/**
 * The path after `/v1`, as it was sent and without the query; null if it is this server's own or not below `/v1`. `refused` is a
 * path, ready for a message, that a server might resolve to one outside of the upstream's base.
 */
export const of = (url: string): string | { readonly refused: string } | null => {
  const [, path] = /^\/v1(\/[^?#]*)/iu.exec(url) ?? []
  if (path === undefined) return null
  const segments = segmentsOf(path)
  if (segments?.[0] === "populations") return null
  if (own.has((segments ?? []).join("/"))) return null
  const isBad = segments === null || segments.some((segment) => /^\.\.?(?:;|$)|[%\\\p{Cc}]/u.test(segment))
  return isBad ? { refused: JSON.stringify(path.slice(0, 100)) } : path
}

/** Whether requests to this path have system prompts. */
export const hasPrompts = (path: string): boolean => prompting.has((segmentsOf(path) ?? []).join("/"))

/** Telemetry, which this server receives itself. */
export const telemetry = ["traces", "logs", "metrics"] as const

const own: ReadonlySet<string> = new Set(telemetry)

const prompting: ReadonlySet<string> = new Set(["chat/completions", "responses"])

/** Null if an escape is invalid. */
const segmentsOf = (path: string): ReadonlyArray<string> | null => {
  try {
    const decoded = decodeURIComponent(path).toLowerCase()
    return decoded.split("/").filter((segment) => segment !== "")
  } catch {
    return null
  }
}
