/** Where a leased instruction goes in a request to a language model: `{{inspo:NAME}}` in a system prompt. */
import { Result, type Schema } from "effect"

/** `{{inspo:NAME/TEXT|DEFAULT}}`: the text of an instruction that has several, and what stands in for it, both optional. */
export interface Marker {
  readonly population: string
  readonly text: string | null
  readonly fallback: string | null
}

/** The markers of a body; a failure says what is wrong with them. */
export const find = (body: Schema.Json): Result.Result<ReadonlyArray<Marker>, string> => {
  const markers: Array<Marker> = []
  const broken: Array<string> = []
  changed(body, (prompt) => {
    const rest = prompt.replaceAll(pattern, (_, population: string, text?: string, fallback?: string) => {
      markers.push({ population, text: text ?? null, fallback: fallback ?? null })
      return ""
    })
    const [found] = /\{\{inspo:.{0,40}/su.exec(rest) ?? []
    if (found !== undefined) broken.push(found)
    return prompt
  })
  if (broken.length > 0)
    return Result.fail(`${JSON.stringify(broken[0])} is no marker; expected {{inspo:NAME}}, or {{inspo:NAME|DEFAULT}}`)
  const names = [...new Set(markers.map(({ population }) => population))]
  if (names.length > 1) return Result.fail(`there are markers of ${names.join(" and ")}; expected one population`)
  if (new Set(markers.map(({ text }) => text === null)).size > 1)
    return Result.fail(`there are markers of ${names.join()} with a text and without; expected one kind`)
  return Result.succeed(markers)
}

/** The body with `texts` in place of its markers. */
export const fill = (body: Schema.Json, textOf: (name: string | null) => string): Schema.Json =>
  changed(body, (prompt) => prompt.replaceAll(pattern, (_, __, name?: string) => textOf(name ?? null)))

const pattern = /\{\{inspo:([A-Za-z0-9][\w.-]{0,199})(?:\/([^|{}]{1,200}))?(?:\|(.*?))?\}\}/gsu

/** A body whose system prompts are changed; what users, tools and models said is not looked at. */
const changed = (body: Schema.Json, change: (prompt: string) => string): Schema.Json => {
  if (!isObject(body)) return body
  const { input, instructions, messages } = body
  return {
    ...body,
    ...(typeof instructions === "string" ? { instructions: change(instructions) } : {}),
    ...(isArray(messages) ? { messages: messages.map((one) => changedMessage(one, change)) } : {}),
    ...(isArray(input) ? { input: input.map((one) => changedMessage(one, change)) } : {})
  }
}

const changedMessage = (message: Schema.Json, change: (prompt: string) => string): Schema.Json => {
  if (!isObject(message) || (message["role"] !== "system" && message["role"] !== "developer")) return message
  const { content } = message
  if (typeof content === "string") return { ...message, content: change(content) }
  return isArray(content)
    ? { ...message, content: content.map((part) => (isText(part) ? { ...part, text: change(part.text) } : part)) }
    : message
}

const isArray = (value: Schema.Json | undefined): value is Schema.JsonArray => Array.isArray(value)

const isObject = (value: Schema.Json | undefined): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isText = (part: Schema.Json): part is Schema.JsonObject & { readonly text: string } =>
  isObject(part) && typeof part["text"] === "string"
