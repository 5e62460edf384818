import type { EngineProfile, Tokenizer } from "@inspo/engine"
import { Result } from "effect"
import type * as Wire from "../../Wire.ts"
import { Refusal } from "./Refusal.ts"

/** The most that one request may ask for. */
export interface Limits {
  readonly sequences: number
  readonly prompts: number
  readonly stops: number
}

/** A request that can be answered: everything it asks for is known and within the limits. */
export interface Plan {
  readonly prompts: ReadonlyArray<{ readonly text: string; readonly tokens: ReadonlyArray<number> }>
  readonly n: number
  readonly maxTokens: number
  readonly stop: ReadonlyArray<string>
  readonly temperature: number
  readonly topP: number
  readonly topK: number | null
  readonly seed: number | null
  readonly echo: boolean
  readonly logprobs: boolean
  readonly promptLogprobs: boolean
  readonly tokenIds: boolean
  readonly tokensAsIds: boolean
  readonly stream: boolean
  readonly streamUsage: boolean
}

/** Checks a request against what a server of the engine can do. */
export const plan = (
  request: Wire.CompletionRequest,
  server: {
    readonly model: string
    readonly profile: EngineProfile
    readonly tokenizer: Tokenizer
    readonly limits: Limits
  }
): Result.Result<Plan, Refusal> => {
  const { limits, model, profile, tokenizer } = server
  const refuse = (field: string, value: unknown, expected: string, status = 400) =>
    Result.fail(new Refusal({ status, field, reason: `${field} is ${shown(value)}, expected ${expected}` }))

  if ((request.model ?? model) !== model)
    return refuse("model", request.model, `${model}, the only model of this server`, 404)
  for (const [field, value, isNeutral, expected] of [
    ["top_k", request.top_k, (request.top_k ?? 0) <= 0 || profile.topK === true, "-1 or 0: this engine has no top-k"],
    ["min_p", request.min_p, (request.min_p ?? 0) === 0, "0: there is no min-p"],
    [
      "repetition_penalty",
      request.repetition_penalty,
      (request.repetition_penalty ?? 1) === 1,
      "1: there are no penalties"
    ],
    ["presence_penalty", request.presence_penalty, (request.presence_penalty ?? 0) === 0, "0: there are no penalties"],
    [
      "frequency_penalty",
      request.frequency_penalty,
      (request.frequency_penalty ?? 0) === 0,
      "0: there are no penalties"
    ],
    [
      "logit_bias",
      request.logit_bias,
      Object.keys(request.logit_bias ?? {}).length === 0,
      "none: logits are not biased"
    ],
    ["suffix", request.suffix, (request.suffix ?? "") === "", "none: texts are continued, not filled in"],
    [
      "skip_special_tokens",
      request.skip_special_tokens,
      request.skip_special_tokens !== true,
      "false: texts keep them"
    ],
    [
      "best_of",
      request.best_of,
      (request.best_of ?? request.n ?? 1) === (request.n ?? 1),
      "n: every sequence that is sampled is answered"
    ],
    [
      "logprobs",
      request.logprobs,
      (request.logprobs ?? 0) === 0,
      "0: the engine tells the log-probability of the token that was sampled, not of others"
    ],
    ["prompt_logprobs", request.prompt_logprobs, (request.prompt_logprobs ?? 0) === 0, "0, as for logprobs"],
    ["temperature", request.temperature, (request.temperature ?? 1) >= 0, "0 or more"],
    ["top_p", request.top_p, (request.top_p ?? 1) > 0 && (request.top_p ?? 1) <= 1, "above 0, at most 1"]
  ] as const)
    if (!isNeutral) return refuse(field, value, expected)

  const prompts = promptsOf(request.prompt).map((prompt) =>
    typeof prompt === "string"
      ? { text: prompt, tokens: tokenizer.encode(prompt) }
      : { text: tokenizer.decode(prompt), tokens: prompt }
  )
  if (prompts.length === 0 || prompts.length > limits.prompts)
    return refuse("prompt", `a list of ${prompts.length}`, `1 to ${limits.prompts} prompts`)
  const n = request.n ?? 1
  const most = Math.floor(limits.sequences / prompts.length)
  if (n < 1 || n > most)
    return refuse("n", n, `1 to ${most}: a request asks for at most ${limits.sequences} sequences in all`)

  const promptLogprobs = typeof request.prompt_logprobs === "number"
  const echo = request.echo ?? false
  const maxTokens = request.max_tokens ?? 16
  // What is asked about a prompt alone needs no room for a token.
  const least = promptLogprobs || echo ? 0 : 1
  if (maxTokens < least) return refuse("max_tokens", maxTokens, `${least} or more`)
  for (const { tokens } of prompts) {
    if (tokens.length === 0) return refuse("prompt", "empty", "at least one token")
    const wrong = tokens.find((token) => token < 0 || token >= tokenizer.vocabularySize)
    if (wrong !== undefined) return refuse("prompt", `with the token ${wrong}`, `0 to ${tokenizer.vocabularySize - 1}`)
    if (tokens.length > profile.contextLength || (!promptLogprobs && tokens.length + maxTokens > profile.contextLength))
      return refuse(
        "max_tokens",
        `${maxTokens} after ${tokens.length} prompt tokens`,
        `at most ${profile.contextLength} together`
      )
  }

  const stop = typeof request.stop === "string" ? [request.stop] : (request.stop ?? [])
  if (stop.length > limits.stops || stop.includes(""))
    return refuse("stop", `a list of ${stop.length}`, `at most ${limits.stops} texts, none of them empty`)
  return Result.succeed({
    prompts,
    n,
    maxTokens,
    stop,
    temperature: request.temperature ?? 1,
    topP: request.top_p ?? 1,
    topK: (request.top_k ?? 0) > 0 ? (request.top_k ?? null) : null,
    seed: request.seed ?? null,
    echo,
    logprobs: typeof request.logprobs === "number",
    promptLogprobs,
    tokenIds: request.return_token_ids ?? false,
    tokensAsIds: request.return_tokens_as_token_ids ?? false,
    stream: request.stream ?? false,
    streamUsage: request.stream_options?.include_usage ?? false
  })
}

const promptsOf = (prompt: Wire.CompletionRequest["prompt"]): ReadonlyArray<string | ReadonlyArray<number>> => {
  if (typeof prompt === "string") return [prompt]
  return isTokens(prompt) ? [prompt] : prompt
}

/** A list that is empty is one prompt without a token. */
const isTokens = (
  prompt: ReadonlyArray<number> | ReadonlyArray<string> | ReadonlyArray<ReadonlyArray<number>>
): prompt is ReadonlyArray<number> => prompt.length === 0 || typeof prompt[0] === "number"

const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value)).slice(0, 200)
