import { Array as Arr, Effect, FileSystem, Option, Result, Schema } from "effect"
import * as Gguf from "./Gguf.ts"

/** Whether a path names a llama.cpp model, which contains its tokenizer. */
export const isGguf = (path: string): boolean => path.toLowerCase().endsWith(".gguf")

/** The metadata of a file; the failure is the reason that there is none. */
export const readMetadata = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const handle = yield* fs.open(file)
  const size = Number((yield* handle.stat).size)
  for (let first = firstRead; ; first *= 2) {
    const length = Math.min(first, size)
    yield* handle.seek(0n, "start")
    const bytes = Option.getOrElse(yield* handle.readAlloc(length), () => new Uint8Array())
    const parsed = Gguf.parse(bytes)
    const isMore = length < size && first < longestHeader
    if (Result.isSuccess(parsed) || parsed.failure !== Gguf.incomplete || !isMore)
      return yield* Effect.fromResult(parsed)
  }
}, Effect.scoped)

/** The header size of most models, and more than that of any model, in bytes. */
const firstRead = 2 ** 22
const longestHeader = 2 ** 27

/** The tokenizer of a model as Hugging Face's two files; the failure names what is missing. */
export const toFiles = (
  metadata: Gguf.Metadata
): Result.Result<{ readonly tokenizer: object; readonly config: object }, string> =>
  Result.gen(function* () {
    const kind = metadata.get("tokenizer.ggml.model")
    if (kind !== "gpt2")
      return yield* Result.fail(
        `its tokenizer.ggml.model is ${String(kind ?? "not there")}, expected gpt2 (byte-level BPE); name the folder with the ` +
          "tokenizer.json of the model in its place"
      )
    const pre = metadata.get("tokenizer.ggml.pre")
    const splitter = typeof pre === "string" ? splitters.get(pre) : undefined
    if (splitter === undefined)
      return yield* Result.fail(
        `its tokenizer.ggml.pre is ${String(pre ?? "not there")}, expected one of ${[...splitters.keys()].join(", ")}; name ` +
          "the folder with the tokenizer.json of the model in its place"
      )
    const {
      chatTemplate,
      end,
      merges,
      start,
      tokens,
      types = []
    } = yield* Result.mapError(
      decodeFields({
        tokens: metadata.get("tokenizer.ggml.tokens"),
        types: metadata.get("tokenizer.ggml.token_type"),
        merges: metadata.get("tokenizer.ggml.merges"),
        start: metadata.get("tokenizer.ggml.bos_token_id"),
        end: metadata.get("tokenizer.ggml.eos_token_id"),
        chatTemplate: metadata.get("tokenizer.chat_template")
      }),
      ({ message }) => message
    )
    const added = tokens.flatMap((content, id) =>
      types[id] === control || types[id] === userDefined
        ? [{ id, content, special: types[id] === control, ...plain }]
        : []
    )
    const textOf = (id: number | undefined) => (id === undefined ? Option.none() : Arr.get(tokens, id))
    return {
      tokenizer: {
        ...splitter,
        added_tokens: added,
        post_processor: null,
        decoder: byteLevel(true),
        model: { ...model, ...splitter.model, vocab: Object.fromEntries(tokens.map((text, id) => [text, id])), merges }
      },
      config: {
        tokenizer_class: "PreTrainedTokenizerFast",
        clean_up_tokenization_spaces: false,
        chat_template: chatTemplate,
        ...Option.match(textOf(end), { onNone: () => ({}), onSome: (text) => ({ eos_token: text }) }),
        ...Option.match(textOf(start), { onNone: () => ({}), onSome: (text) => ({ bos_token: text }) })
      }
    }
  })

/** Types of tokens: markers such as the end of a turn, and whole texts that are never split. */
const control = 3
const userDefined = 4

const plain = { single_word: false, lstrip: false, rstrip: false, normalized: false }

const model = {
  type: "BPE",
  dropout: null,
  unk_token: null,
  continuing_subword_prefix: null,
  end_of_word_suffix: null,
  fuse_unk: false,
  byte_fallback: false
}

const byteLevel = (regex: boolean) => ({
  type: "ByteLevel",
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: regex
})

const split = (digits: string) => ({
  type: "Sequence",
  pretokenizers: [
    {
      type: "Split",
      pattern: {
        Regex:
          `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|` +
          "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
      },
      behavior: "Isolated",
      invert: false
    },
    byteLevel(false)
  ]
})

/** How a text is split before its parts are encoded, by llama.cpp's names. */
const splitters: ReadonlyMap<string, object & { readonly model?: object }> = new Map([
  ["gpt-2", { normalizer: null, pre_tokenizer: byteLevel(true) }],
  [
    "smollm",
    {
      normalizer: null,
      pre_tokenizer: {
        type: "Sequence",
        pretokenizers: [{ type: "Digits", individual_digits: true }, byteLevel(true)]
      }
    }
  ],
  ["qwen2", { normalizer: { type: "NFC" }, pre_tokenizer: split("\\p{N}") }],
  ["llama-bpe", { normalizer: null, pre_tokenizer: split("\\p{N}{1,3}"), model: { ignore_merges: true } }]
])

const decodeFields = Schema.decodeUnknownResult(
  Schema.Struct({
    tokens: Schema.Array(Schema.String),
    types: Schema.UndefinedOr(Schema.Array(Schema.Int)),
    merges: Schema.Array(Schema.String),
    start: Schema.UndefinedOr(Schema.Int),
    end: Schema.UndefinedOr(Schema.Int),
    chatTemplate: Schema.UndefinedOr(Schema.String)
  })
)
