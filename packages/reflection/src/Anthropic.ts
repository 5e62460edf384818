import { Schema } from "effect"
import type { Response } from "effect/ai"
import * as Answer from "./internal/Answer.ts"
import type { AnswerPart, Provider } from "./Provider.ts"

const { Maybe } = Answer

const Message = Schema.Struct({
  content: Schema.Array(
    Schema.Struct({ type: Schema.String, text: Maybe(Schema.String), thinking: Maybe(Schema.String) })
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
  ...content.flatMap(({ text, thinking, type }) =>
    type === "text" ? Answer.text(text) : type === "thinking" ? Answer.thoughts(thinking) : []
  ),
  Answer.finish(finishReasons[stop_reason ?? ""] ?? "unknown", {
    input: Answer.sum(usage?.input_tokens, usage?.cache_creation_input_tokens, usage?.cache_read_input_tokens),
    output: usage?.output_tokens,
    thoughts: undefined
  })
]

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
  body: ({ maxOutputTokens, messages, model, temperature }) => {
    const system = messages.filter(({ role }) => role === "system").map(({ text }) => text)
    return {
      model,
      max_tokens: maxOutputTokens,
      ...(temperature === null ? {} : { temperature }),
      ...(system.length === 0 ? {} : { system: system.join("\n\n") }),
      messages: messages.filter(({ role }) => role !== "system").map(({ role, text }) => ({ role, content: text }))
    }
  },
  read: Answer.reader(Message, parts)
}
