import type { Chat } from "@inspo/domain"
import { Schema } from "effect"
import type { Response } from "effect/ai"
import * as Answer from "./internal/Answer.ts"
import type { AnswerPart, Provider } from "./Provider.ts"

const { Maybe } = Answer

const Message = Schema.Struct({
  content: Schema.Array(
    Schema.Struct({
      type: Schema.String,
      text: Maybe(Schema.String),
      thinking: Maybe(Schema.String),
      id: Maybe(Schema.String),
      name: Maybe(Schema.String),
      input: Maybe(Schema.Json)
    })
  ),
  stop_reason: Maybe(Schema.String),
  usage: Maybe(
    Schema.Struct({
      input_tokens: Maybe(Schema.Natural),
      cache_creation_input_tokens: Maybe(Schema.Natural),
      cache_read_input_tokens: Maybe(Schema.Natural),
      output_tokens: Maybe(Schema.Natural)
    })
  )
})

const finishReasons: Readonly<Record<string, Response.FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content-filter",
  tool_use: "tool-calls",
  pause_turn: "pause"
}

const parts = ({ content, stop_reason, usage }: typeof Message.Type): ReadonlyArray<AnswerPart> => [
  ...content.flatMap(({ id, input, name, text, thinking, type }, index) => {
    switch (type) {
      case "text":
        return Answer.text(text)
      case "thinking":
        return Answer.thoughts(thinking)
      case "tool_use":
        return [Answer.call(id, index, name ?? "", input ?? {})]
      default:
        return []
    }
  }),
  Answer.finish(finishReasons[stop_reason ?? ""] ?? "unknown", {
    input: Answer.sum(usage?.input_tokens, usage?.cache_creation_input_tokens, usage?.cache_read_input_tokens),
    output: usage?.output_tokens,
    thoughts: undefined
  })
]

const sent = (message: Chat.ChatMessage): ReadonlyArray<Schema.JsonObject> => {
  if (message.role === "tool") {
    const results = message.results.map(({ call, text }) => ({
      type: "tool_result",
      tool_use_id: call.id,
      content: text
    }))
    return [{ role: "user", content: results }]
  }
  const { calls = [], role, text } = message
  if (role === "system") return []
  if (calls.length === 0) return [{ role, content: text }]
  const uses = calls.map(({ id, input, name }) => ({ type: "tool_use", id, name, input: Answer.object(input) }))
  // An empty text is refused.
  return [{ role, content: [...(text === "" ? [] : [{ type: "text", text }]), ...uses] }]
}

/** Anthropic's messages: https://docs.anthropic.com/en/api/messages */
export const anthropic: Provider = {
  name: "anthropic",
  url: "https://api.anthropic.com",
  apiKeyEnv: "ANTHROPIC_API_KEY",
  headers: { "anthropic-version": "2023-06-01" },
  authorization: (apiKey) => ["x-api-key", apiKey],
  path: () => "/v1/messages",
  modelsPath: "/v1/models",
  modelPath: (model) => `/v1/models/${encodeURIComponent(model)}`,
  body: ({ maxOutputTokens, messages, model, temperature, tools }) => {
    const system = messages.flatMap((message) => (message.role === "system" ? [message.text] : []))
    return {
      model,
      max_tokens: maxOutputTokens,
      ...(temperature === null ? {} : { temperature }),
      ...(system.length === 0 ? {} : { system: system.join("\n\n") }),
      messages: messages.flatMap(sent),
      ...(tools.length === 0
        ? {}
        : {
            tools: tools.map(({ description, name, parameters }) => ({ name, description, input_schema: parameters }))
          })
    }
  },
  read: Answer.reader(Message, parts)
}
