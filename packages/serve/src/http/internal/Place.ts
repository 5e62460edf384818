/** Where in the JSON text of a request its system prompts are, so that all else can be passed on as it was. */

/** From the character at `start` up to the one before `end`. */
export interface Place {
  readonly start: number
  readonly end: number
}

/**
 * The string literals of all system prompts, in their order; what users, tools and models said is not looked at. The text is known to be JSON.
 * Each character is looked at a bounded number of times.
 */
export const prompts = (json: string): ReadonlyArray<Place> => {
  const body = members(json, spaces(json, 0))
  return [
    ...string(json, body.get("instructions")),
    ...elements(json, body.get("messages")).flatMap((message) => ofMessage(json, message)),
    ...elements(json, body.get("input")).flatMap((message) => ofMessage(json, message))
  ].toSorted((a, b) => a.start - b.start)
}

/** The string in a field of a body that is an object, undefined where there is none. */
export const field = (json: string, name: string): string | undefined => {
  const [place] = string(json, members(json, spaces(json, 0)).get(name))
  return place === undefined ? undefined : textOf(json.slice(place.start, place.end))
}

/** What a string literal says. */
export const textOf = (literal: string): string => String(JSON.parse(literal))

/** A string literal in which some parts of what it says are replaced: they are in order, and apart. */
export const replaced = (literal: string, parts: ReadonlyArray<Place & { readonly text: string }>): string => {
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

const ofMessage = (json: string, message: Place): ReadonlyArray<Place> => {
  const found = members(json, message.start)
  const [role] = string(json, found.get("role"))
  if (role === undefined || role.end - role.start > longest) return []
  if (!prompting.has(textOf(json.slice(role.start, role.end)))) return []
  const content = found.get("content")
  return [
    ...string(json, content),
    ...elements(json, content).flatMap((part) => string(json, members(json, part.start).get("text")))
  ]
}

const prompting: ReadonlySet<string> = new Set(["system", "developer"])

/** The place, where a string literal is there. */
const string = (json: string, place: Place | undefined): ReadonlyArray<Place> =>
  place !== undefined && json[place.start] === `"` ? [place] : []

/** The values of an object in the fields that are looked at, of the same name the last; none where the value at this place is no object. */
const members = (json: string, start: number): ReadonlyMap<string, Place> => {
  const found = new Map<string, Place>()
  if (json[start] !== "{") return found
  for (let at = spaces(json, start + 1); json[at] !== "}";) {
    const name = endOfString(json, at)
    const begin = spaces(json, spaces(json, name) + 1)
    const end = endOf(json, begin)
    const called = name - at > longest ? "" : textOf(json.slice(at, name))
    if (read.has(called)) found.set(called, { start: begin, end })
    at = spaces(json, end)
    if (json[at] === ",") at = spaces(json, at + 1)
  }
  return found
}

/** The fields that are looked at. */
const read: ReadonlySet<string> = new Set(["instructions", "messages", "input", "role", "content", "text", "user"])
/** The characters of a name or role that is looked for, if each is escaped. */
const longest = 2 + 6 * "instructions".length

/** The values of an array; none where the value at this place is no array. */
const elements = (json: string, array: Place | undefined): ReadonlyArray<Place> => {
  const found: Array<Place> = []
  if (array === undefined || json[array.start] !== "[") return found
  for (let at = spaces(json, array.start + 1); json[at] !== "]";) {
    const end = endOf(json, at)
    found.push({ start: at, end })
    at = spaces(json, end)
    if (json[at] === ",") at = spaces(json, at + 1)
  }
  return found
}

/** Behind the value that begins here, however deep it is. */
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

/** Behind a number, or `true`, `false` or `null`. */
const endOfWord = (json: string, start: number): number => {
  let at = start
  while (at < json.length && !/[\s,\]}]/u.test(json[at] ?? "")) at++
  return at
}

/** Behind spaces, and the mark that some programs begin a text with. */
const spaces = (json: string, start: number): number => {
  let at = start
  while (" \n\r\t\uFEFF".includes(json[at] ?? "-")) at++
  return at
}
