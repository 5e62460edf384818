import { type Message, SpecialTokens, type Tokenizer } from "@inspo/engine"

/** The texts that are one token each, from token 256; every other text is its UTF-8 bytes. */
export const specials: ReadonlyArray<string> = [
  "<|end|>",
  "<|system|>",
  "<|user|>",
  "<|assistant|>",
  "<think>",
  "</think>",
  "<search>",
  "</search>",
  "<information>",
  "</information>",
  "<answer>",
  "</answer>"
]

/**
 * A tokenizer of bytes and protocol tags: exact in both directions for well-formed text, and readable in tests. The
 * chat template is that of the embedded model, `<|user|> …<|assistant|>…<|end|>`, with tags for the other roles.
 */
export const tokenizer: Tokenizer = {
  vocabularySize: 256 + specials.length,
  endOfSequence: 256,
  encode: (text) => encode(text),
  escape: SpecialTokens.escaping(specials),
  decode: (tokens) => decode(tokens),
  render: (messages) => render(messages),
  prompt: (messages) => encode(render(messages))
}

const render = (messages: ReadonlyArray<Message>): string =>
  messages
    .map(({ content, role }) => (role === "assistant" ? `<|assistant|>${content}<|end|>` : `<|${role}|> ${content}`))
    .join("") + "<|assistant|>"

const byteCount = 256
const toBytes = new TextEncoder()
const fromBytes = new TextDecoder("utf-8", { ignoreBOM: true })
const special = new RegExp(`(${specials.map((text) => text.replaceAll("|", "\\|")).join("|")})`)

const encode = (text: string): ReadonlyArray<number> =>
  text.split(special).flatMap((part) => {
    const index = specials.indexOf(part)
    return index >= 0 ? [byteCount + index] : Array.from(toBytes.encode(part))
  })

const decode = (tokens: ReadonlyArray<number>): string => fromBytes.decode(Uint8Array.from(tokens.flatMap(tokenBytes)))

const tokenBytes = (token: number): ReadonlyArray<number> =>
  token < byteCount ? [token] : Array.from(toBytes.encode(specials[token - byteCount] ?? ""))
