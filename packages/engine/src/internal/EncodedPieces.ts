import { Schema } from "effect"

/** The parts of a tokenizer of the library that {@link remember} changes. */
interface Parts {
  readonly model: { encode: (pieces: ReadonlyArray<string>) => ReadonlyArray<string> }
  readonly pre_tokenizer: PreTokenizer
}

/** Cuts a text into pieces: a sequence does it by its tokenizers, a `ByteLevel` by its pattern. */
interface PreTokenizer {
  readonly tokenizers?: ReadonlyArray<PreTokenizer>
  readonly pattern: RegExp
  use_regex: boolean
  pre_tokenize_text: (text: string) => ReadonlyArray<string>
}

/**
 * Makes byte-level BPE encode each piece of text once; other tokenizers stay as they are. The library cuts a text into pieces
 * and writes the bytes of each as characters, for a model that encodes them independently. Now the pieces stay text, and the
 * model writes and encodes the bytes of those that it does not know.
 */
export const remember = (config: object, { model, pre_tokenizer }: Parts): void => {
  if (!isByteLevelBpe(config)) return
  const last = pre_tokenizer.tokenizers?.at(-1) ?? pre_tokenizer
  const { pattern, use_regex: cuts } = last
  const bytesOf = last.pre_tokenize_text.bind(last)
  last.use_regex = false
  last.pre_tokenize_text = (text) => (cuts ? (text.match(pattern) ?? []) : [text])
  const encode = model.encode.bind(model)
  const known = new Map<string, ReadonlyArray<string>>()
  const encodeNew = (piece: string): ReadonlyArray<string> => {
    const tokens = encode(bytesOf(piece))
    if (known.size >= mostKnown) known.clear()
    if (piece.length <= longestKnown) known.set(piece, tokens)
    return tokens
  }
  model.encode = (pieces) => pieces.flatMap((piece) => known.get(piece) ?? encodeNew(piece))
}

/** These keep what is known within about 10 MB. */
const mostKnown = 65_536
const longestKnown = 256

const isByteLevelBpe = (config: object): boolean =>
  isBpe(config) &&
  isByteLevel(isSequence(config.pre_tokenizer) ? config.pre_tokenizer.pretokenizers.at(-1) : config.pre_tokenizer)

const isBpe = Schema.is(
  Schema.Struct({ model: Schema.Struct({ type: Schema.Literal("BPE") }), pre_tokenizer: Schema.Unknown })
)

const isByteLevel = Schema.is(
  Schema.Struct({ type: Schema.Literal("ByteLevel"), add_prefix_space: Schema.optionalKey(Schema.Literal(false)) })
)

/** Whether a pre-tokenizer in a config is a sequence. */
export const isSequence = Schema.is(
  Schema.Struct({ type: Schema.Literal("Sequence"), pretokenizers: Schema.Array(Schema.Unknown) })
)
