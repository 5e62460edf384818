/** One message of a chat prompt; `tool` is the answer of a tool. */
export interface Message {
  readonly role: "system" | "user" | "assistant" | "tool"
  readonly content: string
}

/**
 * The text side of an engine. Every id is below `vocabularySize`. `encode` adds no special tokens of its own but recognises those written in the text;
 * `decode` keeps them. `escape` rewrites the special tokens in a text from outside, so that `encode` finds none; without it, texts in the
 * usual forms of special tokens are rewritten. `prompt` renders messages with the model's chat template and opens the assistant's turn.
 */
export interface Tokenizer {
  readonly vocabularySize: number
  readonly endOfSequence: number
  readonly encode: (text: string) => ReadonlyArray<number>
  readonly escape?: (text: string) => string
  readonly decode: (tokens: ReadonlyArray<number>) => string
  readonly prompt: (messages: ReadonlyArray<Message>) => ReadonlyArray<number>
}
