import type { Engine, SampleRequest } from "@inspo/engine"
import { Effect, Option } from "effect"
import type * as Wire from "../../Wire.ts"
import type { Limits } from "./Limits.ts"
import { atMost, type Refusal, refuse } from "./Refusal.ts"
import { word } from "./Sessions.ts"

/** A request for samples as the engine takes it. Without a seed it gets one that nothing else has. */
export const read = Effect.fnUntraced(function* (
  { num_samples, prompt, sampling_params: params }: Wire.SampleRequest,
  stop: ReadonlyArray<string>,
  seed: Option.Option<string>,
  { profile, tokenizer }: Engine.Interface,
  limits: Limits
): Effect.fn.Return<SampleRequest, Refusal> {
  const { contextLength } = profile
  const topK = params.top_k ?? -1
  if (topK !== -1 && (topK < 1 || profile.topK !== true))
    return yield* refuse(
      `sampling_params.top_k is ${topK}, expected -1${profile.topK === true ? " or a count from 1" : ": this engine has no top-k"}`
    )
  const tokens = tokensOf(prompt)
  if (tokens.length < 1 || tokens.length > contextLength)
    return yield* refuse(`prompt holds ${tokens.length} tokens, expected 1 to the context length ${contextLength}`)
  const vocabulary = tokenizer.vocabularySize
  const foreign = tokens.find((token) => token < 0 || token >= vocabulary)
  if (foreign !== undefined) return yield* refuse(`prompt holds ${foreign}, expected tokens of 0 to ${vocabulary - 1}`)
  const n = num_samples ?? 1
  yield* atMost("num_samples", n, limits.samples, "samples")
  const maxTokens = Math.min(params.max_tokens ?? Infinity, contextLength - tokens.length)
  yield* atMost("num_samples × max_tokens with the prompt", tokens.length + n * maxTokens, limits.tokens, "tokens")
  return {
    prompt: tokens,
    n,
    stop,
    maxTokens,
    temperature: params.temperature ?? 1,
    topP: params.top_p ?? 1,
    ...(topK === -1 ? {} : { topK }),
    seed: Option.isSome(seed) ? seed.value : typeof params.seed === "number" ? String(params.seed) : yield* word
  }
})

/** The tokens of an input, which nearly always has one chunk. */
export const tokensOf = ({ chunks }: Wire.ModelInput): ReadonlyArray<number> =>
  chunks.length === 1 ? (chunks[0]?.tokens ?? []) : chunks.flatMap(({ tokens }) => tokens)

/** How many tokens at the end of the prompt are to be scored; null where none is asked for. */
export const scoredTokens = Effect.fnUntraced(function* (
  { prompt_logprobs: wanted, prompt_logprobs_last_n: last = null }: Wire.SampleRequest,
  prompt: ReadonlyArray<number>
) {
  if (wanted !== true && last !== null)
    return yield* refuse(`prompt_logprobs_last_n is ${last}, expected prompt_logprobs with it`)
  if (last !== null && last >= prompt.length)
    return yield* refuse(`prompt_logprobs_last_n is ${last}, expected at most ${prompt.length - 1}`)
  return wanted === true ? (last ?? prompt.length - 1) : null
})
