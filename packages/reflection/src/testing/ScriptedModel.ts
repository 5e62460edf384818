import { Effect, Ref, Stream } from "effect"
import { LanguageModel, type Prompt, type Response } from "effect/ai"

/** What the model writes: by default no text and no thoughts, and `stop` as the reason of its end. */
export interface Said {
  readonly text?: string
  readonly thoughts?: string
  readonly reason?: Response.FinishReason
}

/**
 * A language model that follows a script, which gets the texts of the messages and the number of the call from 0 on, and what
 * it was asked so far. Each call costs 100 tokens of input and 10 of output.
 */
export const make = Effect.fnUntraced(function* (script: (messages: ReadonlyArray<string>, call: number) => Said) {
  const asked = yield* Ref.make<ReadonlyArray<ReadonlyArray<string>>>([])
  const model = yield* LanguageModel.make({
    generateText: ({ prompt }) =>
      Effect.gen(function* () {
        const messages = prompt.content.map(textOf)
        const { reason = "stop", text = "", thoughts = "" } = script(messages, (yield* Ref.get(asked)).length)
        yield* Ref.update(asked, (all) => [...all, messages])
        return [
          { type: "reasoning" as const, text: thoughts },
          { type: "text" as const, text },
          { type: "finish" as const, reason, usage: { inputTokens: { total: 100 }, outputTokens: { total: 10 } } }
        ]
      }),
    streamText: () => Stream.empty
  })
  return { model, asked: Ref.get(asked) }
})

const textOf = ({ content }: Prompt.Message): string =>
  typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("")
