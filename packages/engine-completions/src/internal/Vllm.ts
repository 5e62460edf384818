import { Result, Schema } from "effect"
import * as Wire from "../Wire.ts"
import { type Dialect, logProbabilities, neutral, sequence } from "./Dialect.ts"

/**
 * `/v1/completions` as vLLM extends it. Token ids come as `token_ids`, or from servers that are older as the
 * `token_id:N` that replace tokens' texts. Some servers take 0 likely tokens beside the sampled one for none at all.
 */
export const vllm: Dialect = {
  name: "vllm",
  several: true,
  sample: (model, { maxTokens, n, prompt, seed, stop, temperature, topK, topP }) => ({
    path: "/v1/completions",
    body: {
      model,
      prompt,
      n,
      max_tokens: maxTokens,
      ...neutral,
      temperature,
      top_p: topP,
      top_k: topK ?? -1,
      seed,
      stop,
      skip_special_tokens: false,
      logprobs: 1,
      return_token_ids: true,
      return_tokens_as_token_ids: true
    } satisfies Wire.CompletionRequest
  }),
  readSamples: (answer) =>
    Result.flatMap(decode(answer), ({ choices }) =>
      Result.all(
        choices
          .toSorted((a, b) => a.index - b.index)
          .map((choice) => {
            const tokens = tokensOf(choice)
            const logprobs = choice.logprobs?.token_logprobs
            if (tokens === undefined)
              return Result.fail(
                "no token ids, expected token_ids or tokens written token_id:N; vLLM gives them from 0.10.2 on"
              )
            if (logprobs === undefined || logprobs === null)
              return Result.fail("no logprobs.token_logprobs, expected one per token")
            return Result.mapError(
              sequence(tokens, logprobs, choice.finish_reason),
              (reason) => `choices[${choice.index}]: ${reason}`
            )
          })
      )
    ),
  scoring: {
    ask: (model, { prompt, response }) => ({
      path: "/v1/completions",
      body: {
        model,
        prompt: [...prompt, ...response],
        n: 1,
        max_tokens: 1,
        ...neutral,
        temperature: 0,
        prompt_logprobs: 0
      } satisfies Wire.CompletionRequest
    }),
    read: (answer, { prompt, response }) =>
      Result.flatMap(decode(answer), ({ choices: [choice] }) => {
        const places = choice?.prompt_logprobs
        const tokens = [...prompt, ...response]
        if (places === undefined || places === null) return Result.fail("no prompt_logprobs")
        if (places.length !== tokens.length)
          return Result.fail(`${places.length} prompt_logprobs, expected ${tokens.length}`)
        return logProbabilities(tokens.slice(1).map((token, at) => places[at + 1]?.[token]?.logprob ?? null))
      })
  }
}

const decodeResponse = Schema.decodeUnknownResult(Wire.CompletionResponse)
const decode = (answer: unknown) => Result.mapError(decodeResponse(answer), ({ message }) => message)

const tokensOf = ({ logprobs, token_ids }: typeof Wire.CompletionChoice.Type): ReadonlyArray<number> | undefined => {
  if (token_ids !== undefined && token_ids !== null) return token_ids
  const ids = logprobs?.tokens?.map((text) => (text.startsWith(prefix) ? Number(text.slice(prefix.length)) : NaN))
  return ids?.every(Number.isSafeInteger) === true ? ids : undefined
}

const prefix = "token_id:"
