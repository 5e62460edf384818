import { Template } from "@huggingface/jinja"
import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers"
import type { Message, Tokenizer } from "@inspo/engine"
import { Schema } from "effect"
import type { TokenizerFiles } from "./TokenizerFiles.ts"

/**
 * Reads a Hugging Face tokenizer with its chat template.
 *
 * `files.tokenizer` is the content of `tokenizer.json`, `files.config` that of `tokenizer_config.json`, of which
 * `chat_template` and `eos_token` are required. Throws when either is missing or the tokenizer cannot be read.
 *
 * @example
 * ```ts
 * import { fromFiles } from "@inspo/engine-local/Tokenizer"
 * import { makeTokenizerFiles } from "@inspo/engine-local/TokenizerFiles"
 *
 * const tokenizer = fromFiles(makeTokenizerFiles(["Who", "is", "Marlen"]))
 * tokenizer.decode(tokenizer.encode(" Who is Marlen?")) // " Who is Marlen?"
 * ```
 */
export const fromFiles = (files: TokenizerFiles): Tokenizer => {
  const config = decodeConfig(files.config)
  const inner = new HuggingFaceTokenizer(files.tokenizer, files.config)
  const template = new Template(config.chat_template)
  const endOfSequence = inner.token_to_id(config.eos_token)
  if (endOfSequence === undefined) {
    throw new RangeError(`tokenizer_config.json: eos_token ${config.eos_token} is not in the vocabulary`)
  }
  const encode = (text: string): ReadonlyArray<number> => inner.encode(text, { add_special_tokens: false }).ids
  return {
    vocabularySize: inner.get_vocab().size,
    endOfSequence,
    encode,
    // The library refuses an empty list.
    decode: (tokens) =>
      tokens.length === 0
        ? ""
        : inner.decode([...tokens], { skip_special_tokens: false, clean_up_tokenization_spaces: false }),
    prompt: (messages: ReadonlyArray<Message>) =>
      encode(template.render({ messages, add_generation_prompt: true, eos_token: config.eos_token }))
  }
}

const decodeConfig = Schema.decodeUnknownSync(
  Schema.Struct({ chat_template: Schema.NonEmptyString, eos_token: Schema.NonEmptyString })
)
