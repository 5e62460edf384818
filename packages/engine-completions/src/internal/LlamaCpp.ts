import { Stops, type Tokenizer } from "@inspo/engine"
import { Result, Schema } from "effect"
import * as Wire from "../Wire.ts"
import { type Arrived, type Asked, type Dialect, logProbabilities } from "./Dialect.ts"

/**
 * `/completion` of llama.cpp's `llama-server`: the one of its ways to ask that gives the ids of all tokens. It leaves out
 * the log-probabilities of a stop text and of tokens that end within a character, which are asked for one by one; those of
 * a prompt it does not have. It hides special tokens from stop texts, so sequences are cut here.
 */
export const llamaCpp = (tokenizer: Tokenizer): Dialect => {
  // Its text is whole, so the answer shows it, and with it all that could take its place.
  const [shown = 0] = tokenizer.encode("a")
  return {
    name: "llama.cpp",
    several: false,
    sample: (_, { maxTokens, prompt, seed, stop, temperature, topK, topP }) => ({
      path: "/completion",
      body: {
        ...neutral,
        prompt,
        n_predict: maxTokens,
        temperature,
        top_p: topP,
        top_k: topK ?? 0,
        seed,
        stop,
        n_probs: 1
      }
    }),
    readSamples: (answer, asked) =>
      Result.flatMap(decode(answer), (read) => Result.map(arrived(read, asked, tokenizer), (one) => [one])),
    scoring: null,
    next: {
      ask: (prompt, most) => ({
        path: "/completion",
        body: { ...neutral, prompt, n_predict: 1, temperature: 0, n_probs: most, logit_bias: [[shown, 1e9]] }
      }),
      read: (answer, token) =>
        Result.flatMap(decode(answer), ({ completion_probabilities }) => {
          const entries = completion_probabilities?.[0]?.top_logprobs
          return entries === undefined
            ? Result.fail("no completion_probabilities[0].top_logprobs")
            : Result.map(readEntries(entries.filter(({ id }) => id === token)), ([entry]) => entry?.logprob ?? null)
        })
    },
    tokenizing: {
      ask: (content) => ({ path: "/tokenize", body: { content, add_special: false, parse_special: true } }),
      read: (answer) => Result.mapBoth(decodeTokens(answer), { onSuccess: ({ tokens }) => tokens, onFailure: message })
    }
  }
}

/** Every sampler is named, or its value is the server's. They come in the order that they have elsewhere. */
const neutral = {
  samplers: ["temperature", "top_k", "top_p"],
  top_p: 1,
  top_k: 0,
  min_p: 0,
  typical_p: 1,
  top_n_sigma: -1,
  xtc_probability: 0,
  dry_multiplier: 0,
  dynatemp_range: 0,
  mirostat: 0,
  repeat_penalty: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  logit_bias: [],
  ignore_eos: false,
  post_sampling_probs: false,
  cache_prompt: true,
  return_tokens: true,
  stop: []
}

const arrived = (
  { completion_probabilities = [], stop_type, tokens }: Wire.LlamaCompletion,
  { maxTokens, stop }: Pick<Asked, "maxTokens" | "stop">,
  tokenizer: Tokenizer
): Result.Result<Arrived, string> => {
  if (stop_type === "none") return Result.fail("the stop type none, expected eos, word or limit")
  const entries = readEntries(completion_probabilities)
  if (Result.isFailure(entries)) return Result.fail(entries.failure)
  const logprobs = aligned(tokens, entries.success)
  if (logprobs === null) return Result.fail("completion_probabilities that are not those of tokens")
  const end = Stops.endOf(tokens, stop, tokenizer)
  if (end === null && stop_type === "word")
    return Result.fail(
      "a sequence that ends at a stop text, which our tokenizer does not find in its tokens: it is not the model's"
    )
  const length = Math.min(end ?? tokens.length, maxTokens)
  return Result.succeed({
    tokens: tokens.slice(0, length),
    logprobs: logprobs.slice(0, length),
    stopReason: length === end || (stop_type === "eos" && length === tokens.length) ? "stop" : "length"
  })
}

interface Entry {
  readonly id: number
  readonly logprob: number | null
}

/** Checks log-probabilities; the server writes the lowest number for a probability that is too small for it. */
const readEntries = (
  entries: ReadonlyArray<{ readonly id: number; readonly logprob: number }>
): Result.Result<ReadonlyArray<Entry>, string> =>
  Result.map(logProbabilities(entries.map(({ logprob }) => logprob)), (logprobs) =>
    entries.map(({ id }, index) => {
      const logprob = logprobs[index] ?? null
      return { id, logprob: logprob === null || logprob < -1e30 ? null : logprob }
    })
  )

/**
 * The log-probability of each token, of entries that give those of some of them, in order. Null where an entry is missing,
 * or could be that of another token as well; null altogether where the entries are of other tokens.
 */
const aligned = (tokens: ReadonlyArray<number>, entries: ReadonlyArray<Entry>): ReadonlyArray<number | null> | null => {
  const first = earliest(
    tokens,
    entries.map(({ id }) => id)
  )
  const last = earliest(tokens.toReversed(), entries.map(({ id }) => id).toReversed())
    ?.map((at) => tokens.length - 1 - at)
    .toReversed()
  if (first === null || last === undefined) return null
  const known = new Map(
    entries.flatMap(({ logprob }, index) => {
      const at = first[index]
      return at !== undefined && at === last[index] ? [[at, logprob] as const] : []
    })
  )
  return tokens.map((_, at) => known.get(at) ?? null)
}

/** The earliest places of `ids` in `tokens`, in order; null where they do not. */
const earliest = (tokens: ReadonlyArray<number>, ids: ReadonlyArray<number>): ReadonlyArray<number> | null => {
  const places: Array<number> = []
  for (const id of ids) {
    const at = tokens.indexOf(id, (places.at(-1) ?? -1) + 1)
    if (at < 0) return null
    places.push(at)
  }
  return places
}

const message = ({ message }: Schema.SchemaError) => message
const decodeCompletion = Schema.decodeUnknownResult(Wire.LlamaCompletion)
const decode = (answer: unknown) => Result.mapError(decodeCompletion(answer), message)
const decodeTokens = Schema.decodeUnknownResult(Wire.LlamaTokens)
