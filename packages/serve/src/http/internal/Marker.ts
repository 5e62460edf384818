/** Markers for leased instructions in requests to a language model: `{{inspo:NAME}}` in a system prompt. */
import { Result } from "effect"
import * as Limits from "../../wire/Limits.ts"
import * as JsonPosition from "./JsonPosition.ts"

/** `{{inspo:NAME/TEXT|DEFAULT}}`: the name of a text, if the instruction has several, and a fallback, both optional. */
export interface Marker {
  readonly population: string
  readonly text: string | null
  readonly fallback: string | null
}

/** A marker with its place in a prompt: from the character at `start` up to the one before `end`. */
interface Found extends Marker {
  readonly start: number
  readonly end: number
}

/** The markers of a prompt in their order, in linear time. */
export const scan = (prompt: string): ReadonlyArray<Found> => {
  const found: Array<Found> = []
  let last = prompt.lastIndexOf("}}")
  for (let start = prompt.indexOf(opening); start >= 0 && start < last;) {
    head.lastIndex = start
    const match = head.exec(prompt)
    const [whole = "", population = "", text = null, sign] = match ?? []
    const begin = start + whole.length
    // A default that begins before the last `}}` has an end.
    const close = sign === "|" && begin <= last ? prompt.indexOf("}}", begin) : -1
    const end = match === null ? -1 : sign === "}}" ? begin : close < 0 ? -1 : close + 2
    if (end > 0)
      found.push({ population, text, fallback: sign === "|" ? prompt.slice(begin, close) : null, start, end })
    start = prompt.indexOf(opening, end > 0 ? end : start + 1)
  }
  return found
}

const opening = "{{inspo:"

/** A marker up to its end, or to its default. It has a length of at most some hundred characters. */
const head = /\{\{inspo:([A-Za-z0-9][\w.-]{0,199})(?:\/([^|{}]{1,200}))?(\||\}\})/uy

interface Marked {
  readonly markers: ReadonlyArray<Marker>
  /** The body with `textOf` in place of its markers; all other bytes are unchanged. */
  readonly fill: (textOf: (name: string | null) => string) => string
}

/** The markers of a body, a JSON text; a failure describes the first fault. */
export const find = (body: string): Result.Result<Marked, string> => {
  const prompts = JsonPosition.prompts(body).map((place) => {
    const literal = body.slice(place.start, place.end)
    const prompt = JsonPosition.textOf(literal)
    return { place, literal, prompt, found: scan(prompt) }
  })
  const markers = prompts.flatMap(({ found }) => found)
  for (const { found, prompt } of prompts) {
    const [broken] = /\{\{inspo:.{0,40}/su.exec(pieces(prompt, found).join("")) ?? []
    if (broken !== undefined)
      return Result.fail(
        `${JSON.stringify(broken)} is not a marker; expected {{inspo:NAME}}, or {{inspo:NAME|DEFAULT}}`
      )
  }
  if (markers.length > Limits.markersPerRequest)
    return Result.fail(`there are ${markers.length} markers; expected at most ${Limits.markersPerRequest}`)
  const names = [...new Set(markers.map(({ population }) => population))]
  if (names.length > 1) return Result.fail(`there are markers of ${names.join(" and ")}; expected one population`)
  if (new Set(markers.map(({ text }) => text === null)).size > 1)
    return Result.fail(`there are markers of ${names.join()} with a text and without; expected one kind`)
  const fill: Marked["fill"] = (textOf) => {
    let at = 0
    let filled = ""
    for (const { found, literal, place } of prompts) {
      if (found.length === 0) continue
      const texts = found.map(({ end, start, text }) => ({ start, end, text: textOf(text) }))
      filled += body.slice(at, place.start) + JsonPosition.replaced(literal, texts)
      at = place.end
    }
    return filled + body.slice(at)
  }
  return Result.succeed({ markers, fill })
}

/** A prompt without its markers. */
const pieces = (prompt: string, found: ReadonlyArray<Found>): ReadonlyArray<string> =>
  [...found, { start: prompt.length }].map(({ start }, index) => prompt.slice(found[index - 1]?.end ?? 0, start))
