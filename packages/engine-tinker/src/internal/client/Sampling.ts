import { type SampleRequest, type SampleResult, type Sequence, type Tokenizer, unsampled } from "@inspo/engine"
import { numericSeed, seedHeaders } from "@inspo/engine/Wire"
import { Effect } from "effect"
import { HttpBody } from "effect/http"
import type { Profile } from "../../Profile.ts"
import type * as Wire from "../../Wire.ts"
import * as Backpressure from "./Backpressure.ts"
import type { Connection } from "./Connection.ts"
import type { Sampler } from "./Model.ts"
import type * as Reply from "./Reply.ts"
import type { RequestFailure } from "./RequestFailure.ts"
import { readPromptLogprobs, readSamples } from "./Results.ts"

export type Sampling = Effect.Success<ReturnType<typeof make>>

export interface SamplingOptions {
  readonly connection: Connection
  readonly profile: Profile
  readonly tokenizer: Tokenizer
  readonly contextLength: number
  readonly concurrency: number
}

/** What a sampler is asked for. */
export const make = Effect.fnUntraced(function* (options: SamplingOptions) {
  const { contextLength, profile, tokenizer } = options
  const ask = asking(options, yield* Backpressure.make(options.concurrency))

  const scoreOne = (sampler: Sampler, sequence: Sequence) =>
    ask(
      sampler,
      {
        num_samples: 1,
        prompt: input([...sequence.prompt, ...sequence.response]),
        sampling_params: { max_tokens: 1, temperature: 1, top_k: -1, top_p: 1, seed: 0 },
        prompt_logprobs: true,
        topk_prompt_logprobs: 0
      },
      undefined,
      readPromptLogprobs(sequence)
    )

  return {
    sample: Effect.fnUntraced(function* (
      sampler: Sampler,
      request: SampleRequest
    ): Effect.fn.Return<SampleResult, RequestFailure> {
      const room = Math.min(request.maxTokens, contextLength - request.prompt.length)
      if (room <= 0) return unsampled(request.n)
      const sequences = yield* ask(
        sampler,
        {
          num_samples: request.n,
          prompt: input(request.prompt),
          sampling_params: {
            max_tokens: room,
            temperature: request.temperature,
            top_k: request.topK ?? -1,
            top_p: request.topP,
            seed: numericSeed(request.seed),
            ...stopsOf(request.stop, profile, tokenizer)
          },
          prompt_logprobs: false,
          topk_prompt_logprobs: 0
        },
        request.seed,
        readSamples(request.n, room, tokenizer.vocabularySize)
      )
      return { sequences }
    }),
    /** Log-probabilities of responses, from samplers that report those of their prompts. */
    score: (sampler: Sampler, sequences: ReadonlyArray<Sequence>) =>
      Effect.forEach(sequences, (sequence) => scoreOne(sampler, sequence), { concurrency: "unbounded" })
  }
})

const asking =
  ({ connection, profile }: SamplingOptions, pressure: Backpressure.Backpressure) =>
  <A>(
    sampler: Sampler,
    body: Omit<Wire.SampleRequest, "sampling_session_id" | "seq_id">,
    seed: string | undefined,
    decode: Reply.Decode<A>
  ): Effect.Effect<A, RequestFailure> =>
    pressure.limit(
      Effect.suspend(() => {
        const json = JSON.stringify({
          type: "sample",
          sampling_session_id: sampler.id,
          seq_id: sampler.requests++,
          ...body
        })
        return connection.call(
          {
            path: "asample",
            body: HttpBody.text(json, "application/json"),
            headers: {
              "x-tinker-sampling-backpressure": "1",
              ...(profile.textSeeds && seed !== undefined ? seedHeaders(seed) : {})
            },
            repeatable: true,
            atOnce: profile.samplesAtOnce,
            onBusy: pressure.slowDown(json.length)
          },
          decode
        )
      })
    )

/** An empty list would ask to continue after the end of sequence. */
const stopsOf = (
  stop: ReadonlyArray<string>,
  profile: Profile,
  tokenizer: Tokenizer
): Pick<Wire.SamplingParams, "stop"> => {
  const stops =
    profile.stop === "texts" ? stop : [tokenizer.endOfSequence, ...stop.flatMap((text) => tokenizer.encode(text))]
  return stops.length === 0 ? {} : { stop: stops }
}

const input = (tokens: ReadonlyArray<number>): Wire.ModelInput => ({ chunks: [{ type: "encoded_text", tokens }] })
