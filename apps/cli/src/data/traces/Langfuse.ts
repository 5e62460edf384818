/**
 * Calls of models in exports of Langfuse: rows of observations and of scores, a page of its API, or a trace with both. Names are written
 * `traceId` by the API and the page, `trace_id` by exports to a bucket.
 */
import { Option, Schema, String as Text } from "effect"
import { answer, merged, message, type Message, parsed, type Part, type Records } from "./Call.ts"

/** Reads one row, page or trace; null for other JSON. */
export const read = (json: unknown): Partial<Records> | null => {
  const page = decodePage(json)
  if (Option.isSome(page)) return all(page.value.data)
  if (typeof json !== "object" || json === null || Array.isArray(json)) return null
  const row = Object.fromEntries(Object.entries(json).map(([name, value]) => [Text.snakeToCamel(name), value]))
  const trace = decodeTrace(row)
  if (Option.isSome(trace)) {
    const { id, observations, scores = [], sessionId } = trace.value
    const parts = all([...observations, ...scores])
    return parts && { ...parts, sessions: sessionId ? [...parts.sessions, [id, sessionId]] : parts.sessions }
  }
  const score = decodeScore(row)
  if (Option.isSome(score)) {
    const { comment = null, name, observationId = null, traceId, value } = score.value
    return typeof value === "number" ? { scores: [{ trace: traceId, call: observationId, name, value, comment }] } : {}
  }
  const observation = decodeObservation(row)
  if (Option.isNone(observation)) return null
  const { id, input, output, sessionId = null, traceId, type } = observation.value
  if (type !== "GENERATION") return sessionId === null ? {} : { sessions: [[traceId, sessionId]] }
  return { calls: [{ trace: traceId, id, session: sessionId, messages: messagesOf(input), answer: answerOf(output) }] }
}

/** The records of all rows; null if one cannot be read. */
const all = (rows: ReadonlyArray<unknown>): Records | null => {
  const found = rows.map(read)
  return found.includes(null) ? null : merged(found.filter((one) => one !== null))
}

/** The messages of an input: a list, an object that has one, or one text of the user. */
const messagesOf = (input: unknown): ReadonlyArray<Message> | null => {
  const value = parsed(input)
  if (typeof value === "string") return value.trim() === "" ? null : [{ role: "user", content: value }]
  const messages = Option.firstSomeOf([
    decodeMessages(value),
    Option.map(decodeRequest(value), ({ messages }) => messages)
  ])
  return Option.isNone(messages) ? null : messages.value.map(messageOf)
}

/** The text of an output: itself, that of a message, of the last of several, or of the first choice. */
const answerOf = (output: unknown): string | null => {
  const value = parsed(output)
  if (typeof value === "string") return value.trim() === "" ? null : value
  const found = Option.firstSomeOf([
    decodeMessage(value),
    Option.flatMap(decodeMessages(value), (messages) => Option.fromNullishOr(messages.at(-1))),
    Option.flatMap(decodeChoices(value), ({ choices: [first] }) => Option.fromNullishOr(first?.message))
  ])
  return Option.isNone(found) ? null : answer([messageOf(found.value)])
}

const messageOf = ({
  content,
  role = "assistant",
  toolCalls,
  tool_calls = toolCalls
}: typeof MessageOf.Type): Message => ({
  ...(content === null || typeof content === "string"
    ? { role, content: content ?? "" }
    : message(role, content.map(partOf))),
  ...(tool_calls && tool_calls.length > 0 ? { callsTools: true } : {})
})

const partOf = ({
  content,
  text,
  type = "text"
}: {
  readonly type?: string
  readonly text?: string
  readonly content?: string
}): Part => ({
  type,
  text: text ?? content
})

const optional = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
const text = Schema.optionalKey(Schema.String)
const tools = optional(Schema.Array(Schema.Unknown))
const MessageOf = Schema.Struct({
  role: text,
  tool_calls: tools,
  toolCalls: tools,
  content: Schema.NullOr(
    Schema.Union([Schema.String, Schema.Array(Schema.Struct({ type: text, text, content: text }))])
  )
})
const decodeMessage = Schema.decodeUnknownOption(MessageOf)
const decodeMessages = Schema.decodeUnknownOption(Schema.NonEmptyArray(MessageOf))
const decodeRequest = Schema.decodeUnknownOption(Schema.Struct({ messages: Schema.NonEmptyArray(MessageOf) }))
const decodeChoices = Schema.decodeUnknownOption(
  Schema.Struct({ choices: Schema.Array(Schema.Struct({ message: MessageOf })) })
)
const decodePage = Schema.decodeUnknownOption(Schema.Struct({ data: Schema.Array(Schema.Unknown) }))
const decodeTrace = Schema.decodeUnknownOption(
  Schema.Struct({
    id: Schema.String,
    sessionId: optional(Schema.String),
    observations: Schema.Array(Schema.Unknown),
    scores: Schema.optionalKey(Schema.Array(Schema.Unknown))
  })
)
const decodeObservation = Schema.decodeUnknownOption(
  Schema.Struct({
    id: Schema.String,
    traceId: Schema.String,
    type: Schema.String,
    sessionId: optional(Schema.String),
    input: Schema.optionalKey(Schema.Unknown),
    output: Schema.optionalKey(Schema.Unknown)
  })
)
const decodeScore = Schema.decodeUnknownOption(
  Schema.Struct({
    traceId: Schema.String,
    name: Schema.String,
    dataType: Schema.String,
    value: Schema.Unknown,
    observationId: optional(Schema.String),
    comment: optional(Schema.String)
  })
)
