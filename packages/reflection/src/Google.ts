import type { Chat } from "@inspo/domain"
import { Schema } from "effect"
import type { Response } from "effect/ai"
import * as Answer from "./internal/Answer.ts"
import type { AnswerPart, Provider } from "./Provider.ts"

const { Maybe } = Answer

const Generated = Schema.Struct({
  candidates: Maybe(
    Schema.Array(
      Schema.Struct({
        content: Maybe(
          Schema.Struct({
            parts: Maybe(
              Schema.Array(
                Schema.Struct({
                  text: Maybe(Schema.String),
                  thought: Maybe(Schema.Boolean),
                  functionCall: Maybe(
                    Schema.Struct({ id: Maybe(Schema.String), name: Schema.String, args: Maybe(Schema.Json) })
                  ),
                  thoughtSignature: Maybe(Schema.String)
                })
              )
            )
          })
        ),
        finishReason: Maybe(Schema.String)
      })
    )
  ),
  promptFeedback: Maybe(Schema.Struct({ blockReason: Maybe(Schema.String) })),
  usageMetadata: Maybe(
    Schema.Struct({
      promptTokenCount: Maybe(Schema.Natural),
      candidatesTokenCount: Maybe(Schema.Natural),
      thoughtsTokenCount: Maybe(Schema.Natural)
    })
  )
}).check(
  Schema.makeFilter(
    ({ candidates, promptFeedback }) =>
      (candidates ?? []).length > 0 ||
      promptFeedback?.blockReason != null ||
      "candidates or a reason to block the prompt"
  )
)

const finishReasons: Readonly<Record<string, Response.FinishReason>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content-filter",
  RECITATION: "content-filter",
  LANGUAGE: "content-filter",
  BLOCKLIST: "content-filter",
  PROHIBITED_CONTENT: "content-filter",
  SPII: "content-filter"
}

const parts = ({ candidates, usageMetadata }: typeof Generated.Type): ReadonlyArray<AnswerPart> => {
  const candidate = candidates?.[0]
  return [
    ...(candidate?.content?.parts ?? []).flatMap(({ functionCall, text, thought, thoughtSignature }, index) =>
      functionCall != null
        ? [Answer.call(functionCall.id, index, functionCall.name, functionCall.args ?? {}, thoughtSignature)]
        : thought
          ? Answer.thoughts(text)
          : Answer.text(text)
    ),
    // Without a candidate the prompt itself was blocked.
    Answer.finish(
      candidate === undefined ? "content-filter" : (finishReasons[candidate.finishReason ?? ""] ?? "unknown"),
      {
        input: usageMetadata?.promptTokenCount,
        output: Answer.sum(usageMetadata?.candidatesTokenCount, usageMetadata?.thoughtsTokenCount),
        thoughts: usageMetadata?.thoughtsTokenCount
      }
    )
  ]
}

/** Calls and replies without ids belong together by their order. */
const sent = (message: Chat.ChatMessage): ReadonlyArray<Schema.JsonObject> => {
  if (message.role === "tool") {
    const parts = message.results.map(({ call, text }) => ({
      functionResponse: { ...idOf(call), name: call.name, response: { output: text } }
    }))
    return [{ role: "user", parts }]
  }
  const { calls = [], role, text } = message
  if (role === "system") return []
  const called = calls.map((call) => ({
    functionCall: { ...idOf(call), name: call.name, args: Answer.object(call.input) },
    ...(call.signature === undefined ? {} : { thoughtSignature: call.signature })
  }))
  const texts = text === "" && called.length > 0 ? [] : [{ text }]
  return [{ role: role === "assistant" ? "model" : "user", parts: [...texts, ...called] }]
}

/** Only an id of the server's own is sent back. */
const idOf = ({ id }: Chat.ToolCall) => (Answer.isMade(id) ? {} : { id })

/** Google's Gemini: https://ai.google.dev/api/generate-content */
export const google: Provider = {
  name: "google",
  url: "https://generativelanguage.googleapis.com/v1beta",
  apiKeyEnv: "GEMINI_API_KEY",
  headers: {},
  authorization: (apiKey) => ["x-goog-api-key", apiKey],
  path: (model) => `/models/${encodeURIComponent(model)}:generateContent`,
  modelsPath: "/models",
  modelPath: (model) => `/models/${encodeURIComponent(model)}`,
  body: ({ maxOutputTokens, messages, temperature, tools }) => {
    const system = messages.flatMap((message) => (message.role === "system" ? [{ text: message.text }] : []))
    return {
      ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }),
      contents: messages.flatMap(sent),
      ...(tools.length === 0
        ? {}
        : {
            tools: [
              {
                functionDeclarations: tools.map(({ description, name, parameters }) => ({
                  name,
                  description,
                  parametersJsonSchema: parameters
                }))
              }
            ]
          }),
      generationConfig: { maxOutputTokens, ...(temperature === null ? {} : { temperature }) }
    }
  },
  read: Answer.reader(Generated, parts)
}
