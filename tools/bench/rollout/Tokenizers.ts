import type { Tokenizer } from "@inspo/engine"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import { TokenizerFiles } from "@inspo/engine-local"
import { Array as Arr, Schema } from "effect"
import { shape } from "./Shape.ts"

/** A tokenizer without text: all prompts and all observations are the same tokens. */
export const none: Tokenizer = {
  vocabularySize: 2_000,
  endOfSequence: 0,
  encode: () => observation,
  decode: () => "",
  render: () => "",
  prompt: () => prompt
}

/**
 * A byte-level BPE with `entries` tokens, built from syllables by merges like a trained one: `Ġ` and one, two or three
 * syllables. Also returns the words that are one token.
 */
export const bpe = (entries: number): { readonly tokenizer: Tokenizer; readonly words: ReadonlyArray<string> } => {
  const base = TokenizerFiles.makeTokenizerFiles([])
  const { model } = decodeModel(base.tokenizer)
  const pieces = new Set(Object.keys(model.vocab))
  const merges: Array<readonly [string, string]> = []
  const merge = (left: string, right: string) => {
    if (pieces.size >= entries || pieces.has(left + right)) return
    pieces.add(left + right)
    merges.push([left, right])
  }
  const syllables = Array.from("bdfgklmnprstvz", (first) =>
    Array.from("aeiou", (second) => [first, second] as const)
  ).flat()
  const whole = syllables.map((syllable) => syllable.join(""))
  for (const [first, second] of syllables) merge(first, second)
  for (const syllable of whole) merge("Ġ", syllable)
  for (const one of whole) for (const two of whole) merge(`Ġ${one}`, two)
  for (const one of whole) for (const two of whole) for (const three of whole) merge(`Ġ${one}${two}`, three)
  return {
    tokenizer: HuggingFaceTokenizer.fromFiles({
      config: base.config,
      tokenizer: {
        ...base.tokenizer,
        model: {
          ...model,
          ignore_merges: false,
          vocab: Object.fromEntries(Array.from(pieces, (piece, id) => [piece, id])),
          merges
        }
      }
    }),
    words: merges.flatMap(([left, right]) =>
      left.startsWith("Ġ") && left.length > 1 ? [`${left}${right}`.slice(1)] : []
    )
  }
}

/** The vocabulary, and other fields unchanged. */
const decodeModel = Schema.decodeUnknownSync(
  Schema.Struct({
    model: Schema.StructWithRest(Schema.Struct({ vocab: Schema.Record(Schema.String, Schema.Int) }), [
      Schema.Record(Schema.String, Schema.Unknown)
    ])
  })
)

const prompt = Arr.makeBy(shape.prompt, (at) => at % 1000)
const observation = Arr.makeBy(shape.observed, (at) => 1000 + at)
