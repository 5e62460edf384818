/** Finds the system prompts in the JSON text of a request, so that all other bytes can be forwarded unchanged. */

/** From the character at `start` up to the one before `end`. */
interface JsonPosition {
  readonly start: number
  readonly end: number
}

/**
 * The string literals of all system prompts, in their order; messages of users, tools and models are skipped. The text must be
 * JSON. Each character is read a bounded number of times.
 */
export const prompts = (json: string): ReadonlyArray<JsonPosition> => {
  const body = members(json, spaces(json, 0))
  return [
    ...string(json, body.get("instructions")),
    ...elements(json, body.get("messages")).flatMap((message) => ofMessage(json, message)),
    ...elements(json, body.get("input")).flatMap((message) => ofMessage(json, message))
  ].toSorted((a, b) => a.start - b.start)
}

/** The string in a field of a body that is an object, undefined if there is none. */
export const field = (json: string, name: string): string | undefined => {
  const [place] = string(json, members(json, spaces(json, 0)).get(name))
  return place === undefined ? undefined : textOf(json.slice(place.start, place.end))
}

/** The value of a string literal. */
export const textOf = (literal: string): string => String(JSON.parse(literal))

/** A string literal with some parts of its value replaced, which are in order and do not overlap. */
export const replaced = (literal: string, parts: ReadonlyArray<JsonPosition & { readonly text: string }>): string => {
  let at = 1
  let said = 0
  const until = (place: number): string => {
    const begin = at
    for (; said < place; said++) at += literal[at] !== "\\" ? 1 : literal[at + 1] === "u" ? 6 : 2
    return literal.slice(begin, at)
  }
  let made = `"`
  for (const { end, start, text } of parts) {
    made += until(start) + JSON.stringify(text).slice(1, -1)
    until(end)
  }
  return made + literal.slice(at)
}

const ofMessage = (json: string, message: JsonPosition): ReadonlyArray<JsonPosition> => {
  const found = members(json, message.start)
  const [role] = string(json, found.get("role"))
  if (role === undefined || role.end - role.start > longestName) return []
  if (!prompting.has(textOf(json.slice(role.start, role.end)))) return []
  const content = found.get("content")
  return [
    ...string(json, content),
    ...elements(json, content).flatMap((part) => string(json, members(json, part.start).get("text")))
  ]
}

const prompting: ReadonlySet<string> = new Set(["system", "developer"])

/** The place, if a string literal is there. */
const string = (json: string, place: JsonPosition | undefined): ReadonlyArray<JsonPosition> =>
  place !== undefined && json[place.start] === `"` ? [place] : []

/** The values of an object in the fields that are read, the last of each name; none if the value is not an object. */
const members = (json: string, start: number): ReadonlyMap<string, JsonPosition> => {
  const found = new Map<string, JsonPosition>()
  if (json[start] !== "{") return found
  for (let at = spaces(json, start + 1); json[at] !== "}";) {
    const name = endOfString(json, at)
    const begin = spaces(json, spaces(json, name) + 1)
    const end = endOf(json, begin)
    const called = name - at > longestName ? "" : textOf(json.slice(at, name))
    if (read.has(called)) found.set(called, { start: begin, end })
    at = spaces(json, end)
    if (json[at] === ",") at = spaces(json, at + 1)
  }
  return found
}

const read: ReadonlySet<string> = new Set(["instructions", "messages", "input", "role", "content", "text", "user"])
/** The characters of the longest name or role, if each is escaped. */
const longestName = 2 + 6 * "instructions".length

/** The values of an array; none if the value is not an array. */
const elements = (json: string, array: JsonPosition | undefined): ReadonlyArray<JsonPosition> => {
  const found: Array<JsonPosition> = []
  if (array === undefined || json[array.start] !== "[") return found
  for (let at = spaces(json, array.start + 1); json[at] !== "]";) {
    const end = endOf(json, at)
    found.push({ start: at, end })
    at = spaces(json, end)
    if (json[at] === ",") at = spaces(json, at + 1)
  }
  return found
}

/** The end of the value that begins here, however deep it is. */
const endOf = (json: string, start: number): number => {
  let depth = 0
  let at = start
  do {
    const sign = json[at]
    if (sign === `"`) {
      at = endOfString(json, at)
      continue
    }
    if (sign === "{" || sign === "[") depth++
    else if (sign === "}" || sign === "]") depth--
    else if (depth === 0) return endOfWord(json, at)
    at++
  } while (depth > 0)
  return at
}

const endOfString = (json: string, start: number): number => {
  let at = start + 1
  for (; json[at] !== `"`; at++) if (json[at] === "\\") at++
  return at + 1
}

/** The end of a number, or of `true`, `false` or `null`. */
const endOfWord = (json: string, start: number): number => {
  let at = start
  while (at < json.length && !/[\s,\]}]/u.test(json[at] ?? "")) at++
  return at
}

/** The end of white space, and of a byte order mark. */
const spaces = (json: string, start: number): number => {
  let at = start
  while (" \n\r\t\uFEFF".includes(json[at] ?? "-")) at++
  return at
}
