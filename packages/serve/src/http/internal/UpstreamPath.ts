/** What of an address of this server is an address of the upstream's, which has the same behind its version. */

/**
 * What comes behind `/v1`, as it was sent and without the query; null where it is this server's own or not below `/v1`. `refused` is a path, fit
 * for a message, that a server might read as one outside of the upstream's base.
 */
export const of = (url: string): string | { readonly refused: string } | null => {
  const [, path] = /^\/v1(\/[^?#]*)/iu.exec(url) ?? []
  if (path === undefined) return null
  const segments = segmentsOf(path)
  if (segments?.[0] === "populations") return null
  const isBad = segments === null || segments.some((segment) => /^\.\.?(?:;|$)|[%\\\p{Cc}]/u.test(segment))
  return isBad ? { refused: JSON.stringify(path.slice(0, 100)) } : path
}

/** Whether what is posted there has system prompts. */
export const hasPrompts = (path: string): boolean => prompting.has((segmentsOf(path) ?? []).join("/"))

const prompting: ReadonlySet<string> = new Set(["chat/completions", "responses"])

/** Null where a character is escaped badly. */
const segmentsOf = (path: string): ReadonlyArray<string> | null => {
  try {
    const decoded = decodeURIComponent(path).toLowerCase()
    return decoded.split("/").filter((segment) => segment !== "")
  } catch {
    return null
  }
}
