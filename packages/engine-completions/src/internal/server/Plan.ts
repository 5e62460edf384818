import type { EngineProfile, Tokenizer } from "@inspo/engine"
import { OpenAiRefusal } from "@inspo/http/server"
import { Result } from "effect"
import type * as Wire from "../../Wire.ts"

/** The most that one request may ask for. */
interface Limits {
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

/** What a server of the engine offers. */
interface Offer {
  readonly model: string
  readonly profile: EngineProfile
  readonly tokenizer: Tokenizer
  readonly limits: Limits
}

/** Checks a request against what a server of the engine can do. */
export const plan = (request: Wire.CompletionRequest, server: Offer): Result.Result<Plan, OpenAiRefusal.Refusal> =>
  Result.gen(function* () {
    yield* checkSettings(request, server)
    const prompts = yield* readPrompts(request, server)
    const n = request.n ?? 1
    const most = Math.floor(server.limits.sequences / prompts.length)
    if (n < 1 || n > most)
      return yield* refuse(
        "n",
        n,
        `1 to ${most}: a request asks for at most ${server.limits.sequences} sequences in all`
      )
    const maxTokens = yield* readMaxTokens(request, prompts, server)
    const stop = typeof request.stop === "string" ? [request.stop] : (request.stop ?? [])
    if (stop.length > server.limits.stops || stop.includes(""))
      return yield* refuse(
        "stop",
        `a list of ${stop.length}`,
        `at most ${server.limits.stops} texts, none of them empty`
      )
    return {
      prompts,
      n,
      maxTokens,
      stop,
      temperature: request.temperature ?? 1,
      topP: request.top_p ?? 1,
      topK: (request.top_k ?? 0) > 0 ? (request.top_k ?? null) : null,
      seed: request.seed ?? null,
      echo: request.echo ?? false,
      logprobs: typeof request.logprobs === "number",
      promptLogprobs: typeof request.prompt_logprobs === "number",
      tokenIds: request.return_token_ids ?? false,
      tokensAsIds: request.return_tokens_as_token_ids ?? false,
      stream: request.stream ?? false,
      streamUsage: request.stream_options?.include_usage ?? false
    }
  })

/** Refuses what the engine cannot do, unless it is asked for in a way that changes nothing. */
const checkSettings = (
  request: Wire.CompletionRequest,
  { model, profile }: Offer
): Result.Result<void, OpenAiRefusal.Refusal> => {
  if ((request.model ?? model) !== model)
    return refuse("model", request.model, `${model}, the only model of this server`, 404)
  const n = request.n ?? 1
  const topP = request.top_p ?? 1
  for (const [field, isFine, expected] of [
    ["top_k", (request.top_k ?? 0) <= 0 || profile.topK === true, "-1 or 0: this engine has no top-k"],
    ["min_p", (request.min_p ?? 0) === 0, "0: there is no min-p"],
    ["repetition_penalty", (request.repetition_penalty ?? 1) === 1, "1: there are no penalties"],
    ["presence_penalty", (request.presence_penalty ?? 0) === 0, "0: there are no penalties"],
    ["frequency_penalty", (request.frequency_penalty ?? 0) === 0, "0: there are no penalties"],
    ["logit_bias", Object.keys(request.logit_bias ?? {}).length === 0, "none: logits are not biased"],
    ["suffix", (request.suffix ?? "") === "", "none: texts are continued, not filled in"],
    ["skip_special_tokens", request.skip_special_tokens !== true, "false: texts keep them"],
    ["best_of", (request.best_of ?? n) === n, "n: every sequence that is sampled is answered"],
    [
      "logprobs",
      (request.logprobs ?? 0) === 0,
      "0: the engine gives the log-probability of the token that was sampled, not of others"
    ],
    ["prompt_logprobs", (request.prompt_logprobs ?? 0) === 0, "0, as for logprobs"],
    ["temperature", (request.temperature ?? 1) >= 0, "0 or more"],
    ["top_p", topP > 0 && topP <= 1, "above 0, at most 1"]
  ] as const)
    if (!isFine) return refuse(field, request[field], expected)
  return Result.void
}

const readPrompts = (
  request: Wire.CompletionRequest,
  { limits, tokenizer }: Offer
): Result.Result<Plan["prompts"], OpenAiRefusal.Refusal> => {
  const prompts = promptsOf(request.prompt).map((prompt) =>
    typeof prompt === "string"
      ? { text: prompt, tokens: tokenizer.encode(prompt) }
      : { text: tokenizer.decode(prompt), tokens: prompt }
  )
  return prompts.length === 0 || prompts.length > limits.prompts
    ? refuse("prompt", `a list of ${prompts.length}`, `1 to ${limits.prompts} prompts`)
    : Result.succeed(prompts)
}

/** How many tokens are asked for, given that every prompt leaves room for them. */
const readMaxTokens = (
  request: Wire.CompletionRequest,
  prompts: Plan["prompts"],
  { profile: { contextLength }, tokenizer }: Offer
): Result.Result<number, OpenAiRefusal.Refusal> => {
  const isScored = typeof request.prompt_logprobs === "number"
  const maxTokens = request.max_tokens ?? 16
  // What is asked about a prompt alone needs no room for a token.
  const least = isScored || request.echo === true ? 0 : 1
  if (maxTokens < least) return refuse("max_tokens", maxTokens, `${least} or more`)
  for (const { tokens } of prompts) {
    if (tokens.length === 0) return refuse("prompt", "empty", "at least one token")
    const wrong = tokens.find((token) => token < 0 || token >= tokenizer.vocabularySize)
    if (wrong !== undefined) return refuse("prompt", `with the token ${wrong}`, `0 to ${tokenizer.vocabularySize - 1}`)
    if (tokens.length > contextLength || (!isScored && tokens.length + maxTokens > contextLength))
      return refuse(
        "max_tokens",
        `${maxTokens} after ${tokens.length} prompt tokens`,
        `at most ${contextLength} together`
      )
  }
  return Result.succeed(maxTokens)
}

const promptsOf = (prompt: Wire.CompletionRequest["prompt"]): ReadonlyArray<string | ReadonlyArray<number>> => {
  if (typeof prompt === "string") return [prompt]
  return isTokens(prompt) ? [prompt] : prompt
}

/** A list that is empty is one prompt without a token. */
const isTokens = (
  prompt: ReadonlyArray<number> | ReadonlyArray<string> | ReadonlyArray<ReadonlyArray<number>>
): prompt is ReadonlyArray<number> => prompt.length === 0 || typeof prompt[0] === "number"

const refuse = (
  field: string,
  value: unknown,
  expected: string,
  status = 400
): Result.Result<never, OpenAiRefusal.Refusal> =>
  Result.fail(
    new OpenAiRefusal.Refusal({ status, field, reason: `${field} is ${quoted(value)}, expected ${expected}` })
  )

const quoted = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value)).slice(0, 200)
