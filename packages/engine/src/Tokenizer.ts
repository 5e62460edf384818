/** One message of a chat prompt; `tool` is the answer of a tool. */
export interface Message {
  readonly role: "system" | "user" | "assistant" | "tool"
  readonly content: string
}

/**
 * The text side of an engine. Every id is below `vocabularySize`. `encode` adds no special tokens of its own but recognises those written in the text;
 * `decode` keeps them. `prompt` renders messages with the model's chat template and opens the assistant's turn.
 */
export interface Tokenizer {
  readonly vocabularySize: number
  readonly endOfSequence: number
  readonly encode: (text: string) => ReadonlyArray<number>
  readonly decode: (tokens: ReadonlyArray<number>) => string
  readonly prompt: (messages: ReadonlyArray<Message>) => ReadonlyArray<number>
}
