/** Calls of a model, as an export of traces holds them. */
import { Schema } from "effect"

export interface Message {
  readonly role: string
  /** Null where the message holds something besides text, such as a picture. */
  readonly content: string | null
  readonly callsTools?: boolean
}

export interface Call {
  readonly trace: string
  readonly id: string
  readonly session: string | null
  /** Null if the export does not hold them. */
  readonly messages: ReadonlyArray<Message> | null
  /** The text of the answer; null if it calls tools, or was not recorded. */
  readonly answer: string | null
}

/** A score of a call, or of its whole trace if `call` is null. */
export interface Score {
  readonly trace: string
  readonly call: string | null
  readonly name: string
  readonly value: number
  readonly comment: string | null
}

export interface Records {
  readonly calls: ReadonlyArray<Call>
  readonly scores: ReadonlyArray<Score>
  /** The session of a trace. */
  readonly sessions: ReadonlyArray<readonly [trace: string, session: string]>
}

/** Records of several parts of an export. */
export const merged = (all: ReadonlyArray<Partial<Records>>): Records => ({
  calls: all.flatMap(({ calls = [] }) => calls),
  scores: all.flatMap(({ scores = [] }) => scores),
  sessions: all.flatMap(({ sessions = [] }) => sessions)
})

/** A message of parts. Results of tools may come in the role of the user, as with Anthropic. */
export const message = (role: string, parts: ReadonlyArray<Part>): Message => {
  const spoken = parts.filter(({ type }) => !silent.has(type))
  const callsTools = parts.some(({ type }) => /^(tool_call|tool_use|function_call)$/u.test(type))
  const texts = spoken.flatMap(({ text, type }) => (/(^|_)text$/u.test(type) ? (text ?? []) : []))
  return {
    role: role === "user" && parts.length > 0 && spoken.length === 0 ? "tool" : role,
    content: texts.length < spoken.length ? null : texts.join("\n"),
    ...(callsTools ? { callsTools } : {})
  }
}

/** The text of an answer; null if it has none, or calls tools. */
export const answer = (messages: ReadonlyArray<Message>): string | null => {
  const text = messages.map(({ content }) => content ?? "").join("\n")
  return text.trim() === "" || messages.some(({ callsTools }) => callsTools) ? null : text
}

export interface Part {
  readonly type: string
  readonly text?: string | undefined
}

/** The types of parts that are no text of a conversation, by OpenTelemetry, OpenAI and Anthropic. */
const silent: ReadonlySet<string> = new Set([
  "tool_call",
  "tool_call_response",
  "tool_use",
  "tool_result",
  "function_call",
  "function_call_output",
  "reasoning",
  "thinking",
  "redacted_thinking"
])

/** Reads a JSON text within JSON, which some exporters write in place of the value. */
export const parsed = (value: unknown): unknown => {
  if (typeof value !== "string" || !/^\s*[[{]/u.test(value)) return value
  try {
    return decodeJson(value)
  } catch {
    return value
  }
}

const decodeJson = Schema.decodeSync(Schema.fromJsonString(Schema.Json))
