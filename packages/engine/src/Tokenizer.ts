import type { Schema } from "effect"

/** One message of a chat prompt; `tool` is the answer of a tool. */
export interface Message {
  readonly role: "system" | "user" | "assistant" | "tool"
  readonly content: string
}

/** A message as a chat template reads it: with the calls of tools in OpenAI's form, and the call that a `tool` answers. */
export interface TemplateMessage extends Message {
  readonly tool_calls?: ReadonlyArray<Schema.JsonObject>
  readonly tool_call_id?: string
  readonly name?: string
}

/**
 * The text side of an engine. Every id is below `vocabularySize`. `encode` adds no special tokens of its own but recognises those written in the text;
 * `decode` keeps them. `escape` rewrites the special tokens in a text from outside, so that `encode` finds none; without it, texts in the
 * usual forms of special tokens are rewritten. `render` writes messages with the model's chat template and opens the assistant's turn, with the
 * definitions of tools where the template takes them; `prompt` has the tokens of this text, without tools.
 */
export interface Tokenizer {
  readonly vocabularySize: number
  readonly endOfSequence: number
  readonly encode: (text: string) => ReadonlyArray<number>
  readonly escape?: (text: string) => string
  readonly decode: (tokens: ReadonlyArray<number>) => string
  readonly render: (messages: ReadonlyArray<TemplateMessage>, tools?: ReadonlyArray<Schema.JsonObject>) => string
  readonly prompt: (messages: ReadonlyArray<Message>) => ReadonlyArray<number>
}

/** The tokenizer of an engine without tokens: every text is empty. */
export const withoutTokens: Tokenizer = {
  vocabularySize: 0,
  endOfSequence: 0,
  encode: () => [],
  decode: () => "",
  render: () => "",
  prompt: () => []
}
