/** JSON that people write into files, read without a change of its numbers. */

/** The value of a JSON text. An integer beyond 2^53 becomes the text of its digits. Throws a `SyntaxError` like `JSON.parse`. */
export const parse = (text: string): unknown =>
  JSON.parse(/\d{16}/u.test(text) ? text.replaceAll(token, (found) => (isInexact(found) ? `"${found}"` : found)) : text)

/** The members of a JSON object in their order, each as it is written without white space; null if the text is anything else. */
export const members = (text: string): ReadonlyArray<readonly [name: string, value: string]> | null => {
  if (!isObject(text)) return null
  const found: Array<readonly [string, string]> = []
  let depth = 0
  let name = ""
  let value = ""
  for (const [part] of text.matchAll(token)) {
    if (part === "]" || part === "}") depth -= 1
    if (depth === 1 && part === ":") {
      name = String(JSON.parse(value))
      value = ""
    } else if ((depth === 1 && part === ",") || depth === 0) {
      if (value !== "") found.push([name, value])
      value = ""
    } else value += part
    if (part === "[" || part === "{") depth += 1
  }
  return found
}

const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|[[\]{}:,]|true|false|null/gu

const isInexact = (found: string): boolean => /^-?\d+$/u.test(found) && !Number.isSafeInteger(Number(found))

const isObject = (text: string): boolean => {
  try {
    JSON.parse(text)
    return text.trimStart().startsWith("{")
  } catch {
    return false
  }
}
