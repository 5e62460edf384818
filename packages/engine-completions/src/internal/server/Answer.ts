import { sumAll } from "effect/Number"
import { type SampledSequence, Stops, type Tokenizer } from "@inspo/engine"
import type * as Wire from "../../Wire.ts"
import type { Plan } from "./Plan.ts"

/** One prompt's share of an answer: log-probabilities of its tokens but the first, where asked for, and what followed. */
export interface Answered {
  readonly prompt: Plan["prompts"][number]
  readonly scores: ReadonlyArray<number> | null
  readonly sequences: ReadonlyArray<SampledSequence>
}

/** The choices of an answer, those of one prompt after those of another. */
export const choices = (
  answered: ReadonlyArray<Answered>,
  plan: Plan,
  tokenizer: Tokenizer
): ReadonlyArray<typeof Wire.CompletionChoice.Type> =>
  answered
    .flatMap(({ prompt, scores, sequences }) => sequences.map((sequence) => ({ prompt, scores, sequence })))
    .map(({ prompt, scores, sequence }, index) => {
      const { logprobs, stopReason, tokens } = sequence
      return {
        index,
        text: `${plan.echo ? prompt.text : ""}${Stops.textOf(sequence, plan.stop, tokenizer).text}`,
        finish_reason: stopReason,
        ...(plan.tokenIds ? { token_ids: tokens, prompt_token_ids: prompt.tokens } : {}),
        logprobs: plan.logprobs
          ? logprobsOf(
              plan.echo ? [...prompt.tokens, ...tokens] : tokens,
              plan.echo ? [null, ...(scores ?? []), ...logprobs] : logprobs,
              plan,
              tokenizer
            )
          : null,
        ...(plan.promptLogprobs
          ? {
              prompt_logprobs: [
                null,
                ...(scores ?? []).map((logprob, at) => ({ [String(prompt.tokens[at + 1])]: { logprob } }))
              ]
            }
          : {})
      }
    })

export const usage = (answered: ReadonlyArray<Answered>): typeof Wire.Usage.Type => {
  const prompt = sumAll(answered.map(({ prompt }) => prompt.tokens.length))
  const completion = sumAll(answered.flatMap(({ sequences }) => sequences.map(({ tokens }) => tokens.length)))
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}

const logprobsOf = (
  tokens: ReadonlyArray<number>,
  logprobs: ReadonlyArray<number | null>,
  { tokensAsIds }: Plan,
  { decode }: Tokenizer
) => {
  const texts = tokens.map((token) => decode([token]))
  let offset = 0
  return {
    tokens: tokensAsIds ? tokens.map((token) => `token_id:${token}`) : texts,
    token_logprobs: logprobs,
    top_logprobs: null,
    text_offset: texts.map((text) => {
      const at = offset
      offset += text.length
      return at
    })
  }
}
