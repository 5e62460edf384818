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
            parts: Maybe(Schema.Array(Schema.Struct({ text: Maybe(Schema.String), thought: Maybe(Schema.Boolean) })))
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
    ...(candidate?.content?.parts ?? []).flatMap(({ text, thought }) =>
      thought ? Answer.thoughts(text) : Answer.text(text)
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
  body: ({ maxOutputTokens, messages, temperature }) => {
    const system = messages.filter(({ role }) => role === "system").map(({ text }) => ({ text }))
    return {
      ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }),
      contents: messages
        .filter(({ role }) => role !== "system")
        .map(({ role, text }) => ({ role: role === "assistant" ? "model" : "user", parts: [{ text }] })),
      generationConfig: { maxOutputTokens, ...(temperature === null ? {} : { temperature }) }
    }
  },
  read: Answer.reader(Generated, parts)
}
