import type { Question } from "@inspo/domain"
import type { Tokenizer } from "@inspo/engine"
import { Schema } from "effect"

/** How much of a text is outside a model's vocabulary: words it must spell, and their share of all tokens. */
export const UnknownWords = Schema.Struct({
  words: Schema.Int,
  unknown: Schema.Int,
  tokens: Schema.Int,
  spelled: Schema.Int
})
export interface UnknownWords extends Schema.Schema.Type<typeof UnknownWords> {}

/** Counts the words of the questions that take more than one token, and the tokens that spell them. */
export const measure = (tokenizer: Tokenizer, questions: ReadonlyArray<Question.Question>): UnknownWords => {
  const total = { words: 0, unknown: 0, tokens: 0, spelled: 0 }
  for (const { question } of questions) {
    total.tokens += tokenizer.encode(` ${question}`).length
    for (const [word] of question.matchAll(/[\p{L}\p{N}]+/gu)) {
      const tokens = tokenizer.encode(` ${word}`).length
      total.words += 1
      if (tokens > 1) {
        total.unknown += 1
        total.spelled += tokens
      }
    }
  }
  return total
}

/** Spelled tokens among all tokens, in [0, 1]. */
export const spelledShare = ({ spelled, tokens }: UnknownWords): number =>
  tokens === 0 ? 0 : Math.min(1, spelled / tokens)

/** One paragraph on what the measure means for the results, or null when the vocabulary fits the questions. */
export const explain = (measured: UnknownWords, measure: string): string | null => {
  const share = spelledShare(measured)
  if (share < 0.1) return null
  const percent = (value: number) => `${Math.round(100 * value)} %`
  return (
    `Why ${measure} is near 0: the embedded model's vocabulary is that of its fictional world, and it was trained on that world only. ` +
    `Of the words of these questions ${percent(measured.unknown / Math.max(1, measured.words))} are unknown to it and are ` +
    `spelled in bytes (${percent(share)} of all question tokens); the same holds for the passages. The run shows that ` +
    "retrieval, rewards, credit and evolution work on this data; for results, choose a model of its language."
  )
}
