import { Template } from "@huggingface/jinja"
import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers"
import { Effect, FileSystem, Path, Schema } from "effect"
import type { Message, Tokenizer } from "./Tokenizer.ts"

/** The two files of a Hugging Face tokenizer: what `tokenizer.json` and `tokenizer_config.json` hold. */
export interface TokenizerFiles {
  readonly tokenizer: object
  readonly config: object
}

/** A folder holds no tokenizer that can be used. */
export class TokenizerError extends Schema.TaggedError<TokenizerError>()("TokenizerError", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `tokenizer ${this.path}: ${this.reason}`
  }
}

/**
 * Reads a Hugging Face tokenizer with its chat template.
 *
 * `files.tokenizer` is the content of `tokenizer.json`, `files.config` that of `tokenizer_config.json`, of which
 * `chat_template` and `eos_token` are required. Throws when either is missing or the tokenizer cannot be read.
 *
 * @example
 * ```ts
 * import { fromFiles } from "@inspo/engine/HuggingFaceTokenizer"
 * import { makeTokenizerFiles } from "@inspo/engine-local/TokenizerFiles"
 *
 * const tokenizer = fromFiles(makeTokenizerFiles(["Who", "is", "Marlen"]))
 * tokenizer.decode(tokenizer.encode(" Who is Marlen?")) // " Who is Marlen?"
 * ```
 */
export const fromFiles = (files: TokenizerFiles): Tokenizer => {
  const config = decodeConfig(files.config)
  const eosToken = typeof config.eos_token === "string" ? config.eos_token : config.eos_token.content
  const inner = new HuggingFaceTokenizer(files.tokenizer, files.config)
  const template = new Template(config.chat_template)
  const endOfSequence = inner.token_to_id(eosToken)
  if (endOfSequence === undefined) {
    throw new RangeError(`tokenizer_config.json: eos_token ${eosToken} is not in the vocabulary`)
  }
  const encode = (text: string): ReadonlyArray<number> => inner.encode(text, { add_special_tokens: false }).ids
  // The library refuses an empty list.
  const decode = (tokens: ReadonlyArray<number>): string =>
    tokens.length === 0
      ? ""
      : inner.decode([...tokens], { skip_special_tokens: false, clean_up_tokenization_spaces: false })
  return {
    vocabularySize: inner.get_vocab().size,
    endOfSequence,
    encode,
    decode: isByteLevel(files.tokenizer) ? piecewise(decode) : decode,
    prompt: ofLast(
      (messages: ReadonlyArray<Message>) =>
        template.render({ messages, add_generation_prompt: true, eos_token: eosToken }),
      encode
    )
  }
}

/**
 * Reads `tokenizer.json` and `tokenizer_config.json` of a folder, and `chat_template.jinja` where the latter names no
 * template.
 */
export const read = Effect.fn("HuggingFaceTokenizer.read")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const text = Effect.fnUntraced(function* (name: string) {
    const file = path.join(folder, name)
    return yield* Effect.mapError(
      fs.readFileString(file),
      (error) => new TokenizerError({ path: file, reason: `it cannot be read (${error.reason._tag})` })
    )
  })
  const json = Effect.fnUntraced(function* (name: string) {
    return yield* Effect.mapError(
      decodeObject(yield* text(name)),
      (error) => new TokenizerError({ path: path.join(folder, name), reason: error.message })
    )
  })
  const tokenizer = yield* json("tokenizer.json")
  const config = yield* json("tokenizer_config.json")
  const template = "chat_template" in config ? {} : { chat_template: yield* text("chat_template.jinja") }
  return yield* Effect.try({
    try: () => fromFiles({ tokenizer, config: { ...config, ...template } }),
    catch: (error) =>
      new TokenizerError({ path: folder, reason: error instanceof Error ? error.message : String(error) })
  })
})

const decodeObject = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

const decodeConfig = Schema.decodeUnknownSync(
  Schema.Struct({
    chat_template: Schema.NonEmptyString,
    eos_token: Schema.Union([Schema.NonEmptyString, Schema.Struct({ content: Schema.NonEmptyString })])
  })
)

/** Whether tokens stand for bytes, so that the text of a list is that of its tokens one after the other. */
const isByteLevel = Schema.is(Schema.Struct({ decoder: Schema.Struct({ type: Schema.Literal("ByteLevel") }) }))

/**
 * Decodes each token once and joins what is known of them. A list with a token that is no whole characters is left to
 * `decode`.
 */
const piecewise = (decode: (tokens: ReadonlyArray<number>) => string): ((tokens: ReadonlyArray<number>) => string) => {
  const pieces = new Map<number, string>()
  const piece = (token: number): string => {
    const known = pieces.get(token)
    if (known !== undefined) return known
    const text = decode([token])
    pieces.set(token, text)
    return text
  }
  return (tokens) => {
    let text = ""
    for (const token of tokens) {
      const part = piece(token)
      if (part.includes(replacement)) return decode(tokens)
      text += part
    }
    return text
  }
}

/** What a decoder writes for bytes that are no character. */
const replacement = "\uFFFD"

/** Makes a text and reads it, or gives what it read the last time for the same text: a group asks for one prompt in a row. */
const ofLast = <A, B>(write: (value: A) => string, read: (text: string) => B): ((value: A) => B) => {
  let last: { readonly text: string; readonly result: B } | undefined
  return (value) => {
    const text = write(value)
    if (last?.text !== text) last = { text, result: read(text) }
    return last.result
  }
}
