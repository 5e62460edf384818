/** Conversations with a chat model that may call tools. */
import { Schema } from "effect"

/** One message of a conversation. The results of the assistant's calls follow its message together, in the order of the calls. */
export type ChatMessage =
  | {
      readonly role: "system" | "user" | "assistant"
      readonly text: string
      readonly calls?: ReadonlyArray<ToolCall>
    }
  | { readonly role: "tool"; readonly results: ReadonlyArray<ToolResult> }

/** A tool as it is offered to a chat model; `parameters` is the JSON schema of an object. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly parameters: Schema.JsonObject
}

/**
 * A tool call in the provider's form. `input` is what the model wrote: usually an object, which need not fit the tool, or a
 * text where that was no JSON. `signature` is a text that the provider wants back with the call.
 */
export const ToolCall = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  input: Schema.Json,
  signature: Schema.optionalKey(Schema.String)
})
export interface ToolCall extends Schema.Schema.Type<typeof ToolCall> {}

/** What a tool replied to a call. */
export interface ToolResult {
  readonly call: ToolCall
  readonly text: string
}

/**
 * How many tokens a text has, without its tokenizer: a third of its UTF-8 bytes, rounded up. English prose has about four
 * bytes to a token, so this rather says too many; names, numbers and other scripts come closer to it.
 */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text, "utf8") / 3)
