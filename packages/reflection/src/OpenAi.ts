import type { Chat } from "@inspo/domain"
/** Chat completions: OpenAI's own, and the servers that speak the same (vLLM, SGLang, Ollama, OpenRouter …). */
import { Schema } from "effect"
import type { Response } from "effect/ai"
import * as Answer from "./internal/Answer.ts"
import type { AnswerPart, Provider, TextRequest } from "./Provider.ts"

const { Maybe } = Answer

const Completion = Schema.Struct({
  choices: Schema.NonEmptyArray(
    Schema.Struct({
      message: Schema.Struct({
        content: Maybe(
          Schema.Union([
            Schema.String,
            Schema.Array(Schema.Struct({ type: Schema.String, text: Maybe(Schema.String) }))
          ])
        ),
        refusal: Maybe(Schema.String),
        tool_calls: Maybe(
          Schema.Array(
            Schema.Struct({
              id: Maybe(Schema.String),
              function: Schema.Struct({ name: Schema.String, arguments: Maybe(Schema.Json) })
            })
          )
        ),
        /** Thoughts, under the name of vLLM and DeepSeek, and under that of OpenRouter. */
        reasoning_content: Maybe(Schema.String),
        reasoning: Maybe(Schema.String)
      }),
      finish_reason: Maybe(Schema.String)
    })
  ),
  usage: Maybe(
    Schema.Struct({
      prompt_tokens: Maybe(Schema.Natural),
      completion_tokens: Maybe(Schema.Natural),
      completion_tokens_details: Maybe(Schema.Struct({ reasoning_tokens: Maybe(Schema.Natural) }))
    })
  )
})

const finishReasons: Readonly<Record<string, Response.FinishReason>> = {
  stop: "stop",
  length: "length",
  // Of servers that keep the word of the model behind them.
  max_tokens: "length",
  model_length: "length",
  content_filter: "content-filter",
  refusal: "content-filter",
  tool_calls: "tool-calls",
  function_call: "tool-calls"
}

const parts = ({ choices: [choice], usage }: typeof Completion.Type): ReadonlyArray<AnswerPart> => {
  const { content, reasoning, reasoning_content, refusal, tool_calls } = choice.message
  const written =
    typeof content === "string"
      ? content
      : (content ?? []).map(({ text, type }) => (type === "text" || type === "output_text" ? text : "")).join("")
  return [
    ...Answer.thoughts(reasoning_content ?? reasoning),
    ...Answer.text(refusal ? refusal : written),
    ...(tool_calls ?? []).map((call, index) =>
      Answer.call(call.id, index, call.function.name, argumentsOf(call.function.arguments))
    ),
    Answer.finish(refusal ? "content-filter" : (finishReasons[choice.finish_reason ?? ""] ?? "unknown"), {
      input: usage?.prompt_tokens,
      output: usage?.completion_tokens,
      thoughts: usage?.completion_tokens_details?.reasoning_tokens
    })
  ]
}

/** Some servers send the arguments themselves instead of their JSON. */
const argumentsOf = (given: Schema.Json | undefined): Schema.Json =>
  typeof given === "string" ? Answer.json(given || "{}") : (given ?? {})

/** https://platform.openai.com/docs/api-reference/chat/create */
const sent = (message: Chat.ChatMessage): ReadonlyArray<Schema.JsonObject> => {
  if (message.role === "tool")
    return message.results.map(({ call, text }) => ({ role: "tool", tool_call_id: call.id, content: text }))
  const { calls = [], role, text } = message
  if (calls.length === 0) return [{ role, content: text }]
  const tool_calls = calls.map(({ id, input, name }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(Answer.object(input)) }
  }))
  return [{ role, content: text === "" ? null : text, tool_calls }]
}

const common = ({ messages, model, temperature, tools }: TextRequest) => ({
  model,
  messages: messages.flatMap(sent),
  ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: "function", function: { ...tool } })) }),
  ...(temperature === null ? {} : { temperature })
})

/** Any server of chat completions. Its base URL usually ends with `/v1`; a key is sent where one is given. */
export const openAiCompatible: Provider = {
  name: "openai-compatible",
  url: null,
  apiKeyEnv: null,
  headers: {},
  authorization: (apiKey) => ["authorization", `Bearer ${apiKey}`],
  path: () => "/chat/completions",
  modelsPath: "/models",
  modelPath: null,
  body: (request) => ({ ...common(request), max_tokens: request.maxOutputTokens }),
  read: Answer.reader(Completion, parts)
}

/** OpenAI's own service: https://platform.openai.com/docs/api-reference/chat */
export const openAi: Provider = {
  ...openAiCompatible,
  name: "openai",
  url: "https://api.openai.com/v1",
  apiKeyEnv: "OPENAI_API_KEY",
  modelPath: (model) => `/models/${encodeURIComponent(model)}`,
  // Its reasoning models refuse `max_tokens`.
  body: (request) => ({ ...common(request), max_completion_tokens: request.maxOutputTokens })
}
