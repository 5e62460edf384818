import { assert, describe, it } from "@effect/vitest"
import { Tokenizer as Library } from "@huggingface/tokenizers"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import { Schema } from "effect"

/** GPT-2's character for each byte: printable Latin-1 stays itself, the rest moves to U+0100 and up. */
const byteCharacters = (() => {
  const stays = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff)
  let moved = 0
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(stays(byte) ? byte : 0x100 + moved++))
})()

const characters = (text: string) => Array.from(new TextEncoder().encode(text), (byte) => byteCharacters[byte]).join("")

/** Bytes, an end, whole words, halves of characters and a byte order mark: all that can stand side by side. */
const pieces = ["<|end|>", ...byteCharacters, ..." the,ä,€,🙂,\u{FEFF}".split(",").map(characters), "ðŁ", "ĻĤ"]

const files: HuggingFaceTokenizer.TokenizerFiles = {
  tokenizer: {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [
      { id: 0, content: "<|end|>", single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }
    ],
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
      vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
      merges: []
    }
  },
  config: {
    tokenizer_class: "PreTrainedTokenizerFast",
    eos_token: "<|end|>",
    clean_up_tokenization_spaces: false,
    chat_template: "{%- for message in messages -%}{{- '[' + message.role + ']' + message.content -}}{%- endfor -%}"
  }
}

const tokenizer = HuggingFaceTokenizer.fromFiles(files)
const library = new Library(files.tokenizer, files.config)

const Token = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: pieces.length - 1 }))
const Content = Schema.Literals(["one", "two", "the ä"])

describe("HuggingFaceTokenizer", () => {
  it.prop("decodes as the library does, whatever stands beside what", [Schema.NonEmptyArray(Token)], ([tokens]) => {
    const options = { skip_special_tokens: false, clean_up_tokenization_spaces: false }
    assert.strictEqual(tokenizer.decode(tokens), library.decode([...tokens], options))
  })

  it.prop("brings every text back", [Schema.String], ([text]) => {
    const whole = text.toWellFormed()
    assert.strictEqual(tokenizer.decode(tokenizer.encode(whole)), whole)
  })

  it.prop(
    "renders the prompt it is asked for, whichever it was asked for before",
    [Schema.Array(Content)],
    ([asked]) => {
      for (const content of asked)
        assert.deepStrictEqual(tokenizer.prompt([{ role: "user", content }]), tokenizer.encode(`[user]${content}`))
    }
  )
})
