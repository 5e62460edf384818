import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers"
import { Effect, FileSystem, Path, Predicate, Schema } from "effect"
import * as ChatTemplate from "./internal/ChatTemplate.ts"
import * as EncodedPieces from "./internal/EncodedPieces.ts"
import * as GgufTokenizer from "./internal/GgufTokenizer.ts"
import * as SpecialTokens from "./SpecialTokens.ts"
import type { Tokenizer } from "./Tokenizer.ts"

/** The two files of a Hugging Face tokenizer: the content of `tokenizer.json` and `tokenizer_config.json`. */
export interface TokenizerFiles {
  readonly tokenizer: object
  readonly config: object
}

/** What a tokenizer needs besides its files. */
export interface TokenizerOptions {
  /**
   * The date that a chat template prints as today's (`strftime_now`), as YYYY-MM-DD. A template that
   * prints today's date is refused without one: its prompts would depend on the day.
   */
  readonly date?: string | null | undefined
}

/** A folder has no usable tokenizer. */
export class TokenizerError extends Schema.TaggedError<TokenizerError>()("TokenizerError", {
  path: Schema.String,
  reason: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return `tokenizer ${this.path}: ${this.reason}`
  }
}

/**
 * Reads a Hugging Face tokenizer with its chat template.
 *
 * `files.tokenizer` is the content of `tokenizer.json`, `files.config` that of `tokenizer_config.json`, of which
 * `chat_template`, a template or a list with one named `default`, and `eos_token` are required. Throws when either is missing, when the tokenizer cannot be read, and when
 * the template needs a date that the options do not have.
 *
 * @example
 * ```ts
 * import { fromFiles } from "@inspo/engine/HuggingFaceTokenizer"
 * import { TokenizerFiles } from "@inspo/engine-local"
 *
 * const tokenizer = fromFiles(TokenizerFiles.makeTokenizerFiles(["Who", "is", "Marlen"]))
 * tokenizer.decode(tokenizer.encode(" Who is Marlen?")) // " Who is Marlen?"
 * ```
 */
export const fromFiles = (files: TokenizerFiles, { date = null }: TokenizerOptions = {}): Tokenizer => {
  const config = decodeConfig(files.config)
  const template = templateOf(config.chat_template)
  const eosToken = tokenText(config.eos_token)
  if (date === null && ChatTemplate.printsDate(template))
    throw new RangeError("chat_template prints today's date (strftime_now), expected a fixed date to print instead")
  const inner = new HuggingFaceTokenizer(withAllDigits(files.tokenizer), files.config)
  EncodedPieces.remember(files.tokenizer, inner)
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
  const render = ChatTemplate.compile(template, specialTokens(files.config), date)
  return {
    // Ids may have gaps.
    vocabularySize: Array.from(inner.get_vocab().values(), Number).reduce((most, id) => Math.max(most, id + 1), 0),
    endOfSequence,
    encode,
    escape: escapeOf(files.tokenizer, inner),
    decode: isByteLevel(files.tokenizer) ? piecewise(decode) : decode,
    render,
    prompt: ofLast((messages) => render(messages), encode)
  }
}

/**
 * Reads a tokenizer from a folder or a model. Of a folder these are `tokenizer.json` and `tokenizer_config.json`, and
 * `chat_template.jinja` if there is one, which takes precedence over a template in the latter, else
 * `additional_chat_templates/default.jinja`. Of a llama.cpp model (`.gguf`) it is the content of its header; only byte-level BPE,
 * which is checked.
 */
export const read = Effect.fn("HuggingFaceTokenizer.read")(function* (source: string, options: TokenizerOptions = {}) {
  const files = yield* readFiles(source)
  return yield* Effect.try({
    try: () => fromFiles(files, options),
    catch: (cause) =>
      new TokenizerError({ path: source, reason: cause instanceof Error ? cause.message : String(cause), cause })
  })
})

/** Whether the chat template of a folder or model asks for today's date, so that `read` needs one. */
export const printsDate = Effect.fn("HuggingFaceTokenizer.printsDate")(function* (source: string) {
  const config: object = GgufTokenizer.isGguf(source) ? (yield* readFiles(source)).config : yield* readConfig(source)
  return (
    "chat_template" in config &&
    isChatTemplate(config.chat_template) &&
    ChatTemplate.printsDate(templateOf(config.chat_template))
  )
})

const readFiles = Effect.fnUntraced(function* (source: string) {
  if (GgufTokenizer.isGguf(source)) return yield* readGguf(source)
  const path = yield* Path.Path
  const tokenizer = yield* readJson(path.join(source, "tokenizer.json"))
  return { tokenizer, config: yield* readConfig(source) } satisfies TokenizerFiles
})

const readGguf = (file: string) =>
  GgufTokenizer.readMetadata(file).pipe(
    Effect.flatMap((metadata) => Effect.fromResult(GgufTokenizer.toFiles(metadata))),
    Effect.mapError((cause) =>
      typeof cause === "string"
        ? new TokenizerError({ path: file, reason: cause })
        : new TokenizerError({ path: file, reason: `it cannot be read (${cause.reason._tag})`, cause })
    )
  )

/** `tokenizer_config.json` with the template that takes precedence. */
const readConfig = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const config = yield* readJson(path.join(folder, "tokenizer_config.json"))
  const file = path.join(folder, "chat_template.jinja")
  const exists = (file: string) => Effect.orElseSucceed(fs.exists(file), () => false)
  if (yield* exists(file)) return { ...config, chat_template: yield* readText(file) }
  if ("chat_template" in config) return config
  const other = path.join(folder, "additional_chat_templates", "default.jinja")
  return { ...config, chat_template: yield* readText((yield* exists(other)) ? other : file) }
})

const readText = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.mapError(
    fs.readFileString(file),
    (cause) => new TokenizerError({ path: file, reason: `it cannot be read (${cause.reason._tag})`, cause })
  )
})

const readJson = Effect.fnUntraced(function* (file: string) {
  return yield* Effect.mapError(
    decodeObject(yield* readText(file)),
    (cause) => new TokenizerError({ path: file, reason: cause.message, cause })
  )
})

const decodeObject = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

/** A special token in a config: its text, or an object with its text. */
const SpecialToken = Schema.Union([Schema.NonEmptyString, Schema.Struct({ content: Schema.NonEmptyString })])
const isSpecialToken = Schema.is(SpecialToken)

const tokenText = (token: typeof SpecialToken.Type): string => (typeof token === "string" ? token : token.content)

/** A template, or several with names. */
const NamedTemplates = Schema.Array(Schema.Struct({ name: Schema.String, template: Schema.NonEmptyString }))
const ChatTemplates = Schema.Union([Schema.NonEmptyString, NamedTemplates])
const isChatTemplate = Schema.is(ChatTemplates)

/** The only template, or that of the name `default`, the last one as in transformers. */
const templateOf = (templates: typeof ChatTemplates.Type): string => {
  if (typeof templates === "string") return templates
  const found = templates.findLast(({ name }) => name === "default")
  if (found !== undefined) return found.template
  const names = templates.map(({ name }) => JSON.stringify(name)).join(", ")
  throw new RangeError(
    `chat_template has the templates ${names === "" ? "(none)" : names}, expected one named "default"; rename the one to use, or save it ` +
      "as chat_template.jinja"
  )
}

const decodeConfig = Schema.decodeUnknownSync(Schema.Struct({ chat_template: ChatTemplates, eos_token: SpecialToken }))

/** The value of `…_token`, at its top or among its extra tokens, by name. */
const specialTokens = (config: object): Readonly<Record<string, string>> => {
  const extra = Predicate.hasProperty(config, "extra_special_tokens") ? config.extra_special_tokens : {}
  return Object.fromEntries(
    Object.entries({ ...(Predicate.isObjectKeyword(extra) ? extra : {}), ...config }).flatMap(([name, value]) =>
      name.endsWith("_token") && isSpecialToken(value) ? [[name, tokenText(value)]] : []
    )
  )
}

/**
 * Rewrites special tokens, and added ones in brackets such as `<tool_call>`: others, such as white space or words, are text.
 * Before the library looks for tokens again, it normalises the text.
 */
const escapeOf = (tokenizer: object, { normalizer }: HuggingFaceTokenizer) =>
  SpecialTokens.escaping(
    (hasAddedTokens(tokenizer) ? tokenizer.added_tokens : []).flatMap(({ content, special }) =>
      special === true || /^[<[{].*[>\]}]$/su.test(content) ? [content] : []
    ),
    normalizer
  )

const hasAddedTokens = Schema.is(
  Schema.Struct({
    added_tokens: Schema.Array(Schema.Struct({ content: Schema.String, special: Schema.optionalKey(Schema.Boolean) }))
  })
)

/** The library treats only 0 to 9 as digits; the original treats every number character as one, such as ½ and Ⅷ. */
const withAllDigits = (tokenizer: object): object =>
  "pre_tokenizer" in tokenizer ? { ...tokenizer, pre_tokenizer: allDigits(tokenizer.pre_tokenizer) } : tokenizer

const allDigits = (part: unknown): unknown => {
  if (EncodedPieces.isSequence(part)) return { ...part, pretokenizers: part.pretokenizers.map(allDigits) }
  if (!isDigits(part)) return part
  const Regex = part.individual_digits ? "\\p{N}" : "\\p{N}+"
  return { type: "Split", pattern: { Regex }, behavior: "Isolated", invert: false }
}

const isDigits = Schema.is(Schema.Struct({ type: Schema.Literal("Digits"), individual_digits: Schema.Boolean }))

/** Whether tokens are bytes, so that the text of a list is the concatenation of its tokens. */
const isByteLevel = Schema.is(Schema.Struct({ decoder: Schema.Struct({ type: Schema.Literal("ByteLevel") }) }))

/**
 * Decodes each token once and joins the texts. A list with a token that is not a whole number of characters is left to
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

/** What a decoder writes for bytes that are not a character. */
const replacement = "\uFFFD"

/** Encodes a text, or returns the last result for the same text: a group asks for one prompt repeatedly. */
const ofLast = <A, B>(write: (value: A) => string, read: (text: string) => B): ((value: A) => B) => {
  let last: { readonly text: string; readonly result: B } | undefined
  return (value) => {
    const text = write(value)
    if (last?.text !== text) last = { text, result: read(text) }
    return last.result
  }
}
