import { Result, Schema } from "effect"
import * as Wire from "../Wire.ts"
import { type Dialect, logProbabilities, neutral, sequence } from "./Dialect.ts"

/** SGLang's own `/generate`. A request asks for one sequence: those of one request would share a seed. */
export const sglang: Dialect = {
  name: "sglang",
  several: false,
  sample: (_, { maxTokens, prompt, seed, stop, temperature, topK, topP }) => ({
    path: "/generate",
    body: {
      input_ids: prompt,
      sampling_params: {
        ...params(maxTokens, temperature),
        top_p: topP,
        top_k: topK ?? -1,
        stop,
        sampling_seed: seed
      },
      return_logprob: true
    } satisfies Wire.GenerateRequest
  }),
  readSamples: (answer) =>
    Result.flatMap(decode(answer), ({ meta_info: { finish_reason, output_token_logprobs: rows } }) => {
      if (rows === undefined || rows === null)
        return Result.fail("no meta_info.output_token_logprobs, expected one entry per token")
      const one = sequence(
        rows.map(([, token]) => token),
        rows.map(([logprob]) => logprob),
        finish_reason?.type
      )
      return Result.map(one, (sequence) => [sequence])
    }),
  scoring: {
    ask: (_, { prompt, response }) => ({
      path: "/generate",
      body: {
        input_ids: [...prompt, ...response],
        sampling_params: params(0, 0),
        return_logprob: true,
        logprob_start_len: 0
      } satisfies Wire.GenerateRequest
    }),
    read: (answer, { prompt, response }) =>
      Result.flatMap(decode(answer), ({ meta_info: { input_token_logprobs: rows } }) => {
        const length = prompt.length + response.length
        if (rows === undefined || rows === null) return Result.fail("no meta_info.input_token_logprobs")
        if (rows.length !== length)
          return Result.fail(`${rows.length} entries of meta_info.input_token_logprobs, expected ${length}`)
        return logProbabilities(rows.slice(1).map(([logprob]) => logprob))
      })
  }
}

const params = (maxTokens: number, temperature: number) => ({
  max_new_tokens: maxTokens,
  temperature,
  ...neutral,
  stop: [],
  // What stops a sequence is part of it.
  no_stop_trim: true,
  skip_special_tokens: false,
  sampling_seed: 0
})

const decodeResponse = Schema.decodeUnknownResult(Wire.GenerateResponse)
const decode = (answer: unknown) => Result.mapError(decodeResponse(answer), ({ message }) => message)
