import type { TokenizerFiles } from "@inspo/engine/HuggingFaceTokenizer"

/** The tags of the embedded model, in id order; `<|pad|>` has id 0. */
export const specialTokens = [
  "<|pad|>",
  "<|end|>",
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
] as const

/**
 * Builds a byte-level vocabulary in which every listed word, written with a leading space, is one token.
 *
 * Ids run over {@link specialTokens}, the 256 bytes, `'s`, then the words in the order given, duplicates dropped. The
 * model is BPE with `ignore_merges` and no merges: a piece of text is one token when it is in the vocabulary and its
 * UTF-8 bytes otherwise, so every text can be encoded and decoded back.
 *
 * A word must survive the GPT-2 pre-tokenizer in one piece: only letters, only digits, or only signs. Others throw.
 *
 * @example
 * ```ts
 * import { TokenizerFiles } from "@inspo/engine-local"
 *
 * const files = TokenizerFiles.makeTokenizerFiles(["The", "mayor", "of"])
 * ```
 */
export const makeTokenizerFiles = (words: ReadonlyArray<string>): TokenizerFiles => {
  const pieces = new Set<string>([...specialTokens, ...byteCharacters, toByteCharacters("'s")])
  for (const word of words) {
    if (!onePiece.test(word)) {
      throw new RangeError(
        `words: ${JSON.stringify(word)} cannot be one token; list its letters, digits and signs as separate words`
      )
    }
    pieces.add(toByteCharacters(` ${word}`))
  }
  return {
    tokenizer: {
      version: "1.0",
      truncation: null,
      padding: null,
      added_tokens: specialTokens.map((content, id) => ({
        id,
        content,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
        special: true
      })),
      normalizer: null,
      pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
      post_processor: null,
      decoder: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
      model: {
        type: "BPE",
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: true,
        vocab: Object.fromEntries(Array.from(pieces, (piece, id) => [piece, id])),
        merges: []
      }
    },
    config: {
      tokenizer_class: "PreTrainedTokenizerFast",
      pad_token: "<|pad|>",
      eos_token: "<|end|>",
      clean_up_tokenization_spaces: false,
      chat_template: chatTemplate
    }
  }
}

/**
 * System and user messages that follow each other share one `<|user|>` turn, since the vocabulary has no system tag;
 * an assistant message is written verbatim and closed by `<|end|>`.
 */
const chatTemplate = [
  "{%- for message in messages -%}",
  "{%- if message.role == 'assistant' -%}",
  "{{- '<|assistant|>' + message.content + '<|end|>' -}}",
  "{%- else -%}",
  "{%- if loop.first or messages[loop.index0 - 1].role == 'assistant' -%}{{- '<|user|>' -}}{%- endif -%}",
  "{{- ' ' + message.content -}}",
  "{%- endif -%}",
  "{%- endfor -%}",
  "{%- if add_generation_prompt -%}{{- '<|assistant|>' -}}{%- endif -%}"
].join("")

const onePiece = /^(?:\p{L}+|\p{N}+|[^\s\p{L}\p{N}]+)$/u

/** GPT-2's printable character for each byte: printable Latin-1 stays itself, the rest moves to U+0100 and up. */
const byteCharacters: ReadonlyArray<string> = (() => {
  const isPrintable = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff)
  let moved = 0
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isPrintable(byte) ? byte : 0x100 + moved++))
})()

const toByteCharacters = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => byteCharacters[byte]).join("")
