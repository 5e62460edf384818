/** Anthropic's Messages. */
import type { TemplateMessage } from "@inspo/engine"
import { maybe } from "@inspo/engine/Wire"
import { Result, Schema } from "effect"
import type { Answered, Choice } from "../ChatCall.ts"
import { decoding, MaxTokens, textOf } from "./Decoding.ts"
import type { Reply, Wire } from "./Wire.ts"

const Text = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })
const ToolUse = Schema.Struct({
  type: Schema.Literal("tool_use"),
  id: Schema.String,
  name: Schema.String,
  input: Schema.Record(Schema.String, Schema.Json)
})
const ToolResult = Schema.Struct({
  type: Schema.Literal("tool_result"),
  tool_use_id: Schema.String,
  content: maybe(Schema.Union([Schema.String, Schema.Array(Text)]))
})

const Message = Schema.Struct({
  role: Schema.Literals(["user", "assistant"]),
  content: Schema.Union([Schema.String, Schema.Array(Schema.Union([Text, ToolUse, ToolResult]))])
})

const Request = Schema.Struct({
  system: maybe(Schema.Union([Schema.String, Schema.Array(Text)])),
  messages: Schema.NonEmptyArray(Message),
  max_tokens: MaxTokens,
  stop_sequences: maybe(Schema.Array(Schema.NonEmptyString)),
  stream: maybe(Schema.Boolean),
  tool_choice: maybe(Schema.Struct({ type: Schema.String })),
  tools: maybe(
    Schema.Array(
      Schema.Struct({
        name: Schema.String,
        description: maybe(Schema.String),
        input_schema: Schema.Record(Schema.String, Schema.Json)
      })
    )
  )
})

/** `POST …/messages`. */
export const wire: Wire = {
  path: "/messages",
  read: (body) =>
    Result.map(
      decoding(Request)(body),
      ({ max_tokens: maxTokens, messages, stop_sequences: stop, stream, system, tool_choice, tools }) => ({
        call: {
          messages: [
            ...(system === undefined || system === null ? [] : [{ role: "system", content: textOf(system) } as const]),
            ...messages.flatMap(messagesOf)
          ],
          tools: (tool_choice?.type === "none" ? [] : (tools ?? [])).map(
            ({ description, input_schema: parameters, name }) => ({
              type: "function",
              function: { name, description: description ?? "", parameters }
            })
          ),
          n: 1,
          maxTokens,
          stop: stop ?? [],
          keepsStop: false
        },
        answer: (answered, { id, model }) => {
          const message = messageOfChoice(answered, id, model)
          return stream === true ? events(message) : { _tag: "Json", body: message }
        }
      })
    ),
  refused: ({ reason, status }) => ({
    type: "error",
    error: { type: types[status] ?? (status >= 500 ? "api_error" : "invalid_request_error"), message: reason }
  })
}

const types: Readonly<Record<number, string>> = {
  401: "authentication_error",
  404: "not_found_error",
  429: "rate_limit_error"
}

/** One message, or one of a tool for each result. */
const messagesOf = ({ content, role }: typeof Message.Type): ReadonlyArray<TemplateMessage> => {
  if (typeof content === "string") return [{ role, content }]
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("")
  const calls = content.flatMap((block) =>
    block.type === "tool_use"
      ? [{ id: block.id, type: "function", function: { name: block.name, arguments: block.input } }]
      : []
  )
  const results = content.flatMap((block) =>
    block.type === "tool_result"
      ? [{ role: "tool" as const, content: textOf(block.content), tool_call_id: block.tool_use_id }]
      : []
  )
  const isSaid = text !== "" || calls.length > 0 || results.length === 0
  return [
    ...results,
    ...(isSaid ? [{ role, content: text, ...(calls.length === 0 ? {} : { tool_calls: calls }) }] : [])
  ]
}

type Block = (typeof Text | typeof ToolUse)["Type"]

const blocks = ({ calls, content }: Choice): ReadonlyArray<Block> => [
  ...(content === "" && calls.length > 0 ? [] : [{ type: "text", text: content } as const]),
  ...calls.map(({ id, input, name }) => ({ type: "tool_use", id, name, input }) as const)
]

const messageOfChoice = (answered: Answered, id: string, model: string) => {
  const [choice] = answered.choices
  return {
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model,
    content: choice === undefined ? [] : blocks(choice),
    ...ending(choice),
    usage: usage(answered)
  }
}

const ending = (choice: Choice | undefined) => {
  if (choice?.ended === "calls") return { stop_reason: "tool_use", stop_sequence: null }
  if (choice?.ended === "length") return { stop_reason: "max_tokens", stop_sequence: null }
  const stopped = choice?.stoppedAt ?? null
  return { stop_reason: stopped === null ? "end_turn" : "stop_sequence", stop_sequence: stopped }
}

const usage = ({ choices, promptTokens }: Answered) => ({
  input_tokens: promptTokens,
  output_tokens: choices.reduce((sum, { tokens }) => sum + tokens.length, 0)
})

/** A message as events: each block in one piece, since an engine gives a sequence as a whole. */
const events = (message: ReturnType<typeof messageOfChoice>): Reply => {
  const { content, stop_reason, stop_sequence } = message
  const all: ReadonlyArray<{ readonly type: string; readonly [field: string]: unknown }> = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    ...content.flatMap((block, index) => [
      {
        type: "content_block_start",
        index,
        content_block: block.type === "text" ? { ...block, text: "" } : { ...block, input: {} }
      },
      {
        type: "content_block_delta",
        index,
        delta:
          block.type === "text"
            ? { type: "text_delta", text: block.text }
            : { type: "input_json_delta", partial_json: JSON.stringify(block.input) }
      },
      { type: "content_block_stop", index }
    ]),
    {
      type: "message_delta",
      delta: { stop_reason, stop_sequence },
      usage: { output_tokens: message.usage.output_tokens }
    },
    { type: "message_stop" }
  ]
  return { _tag: "Events", events: all.map((data) => ({ event: data.type, data: JSON.stringify(data) })) }
}
