import { Engine, EngineError, type EngineProfile, frozenPolicy, type SampleRequest, unsampled } from "@inspo/engine"
import { Effect, Layer, Semaphore } from "effect"
import type { HttpClient } from "effect/http"
import * as Questions from "./internal/Questions.ts"
import * as Served from "./internal/Served.ts"

export type { OptionNames, ServedOptions as CompletionsEngineOptions } from "./internal/Served.ts"

/**
 * A frozen policy behind a server that samples and does not train: vLLM, SGLang, llama.cpp's `llama-server`, or another
 * one whose `/v1/completions` takes a prompt of token ids and gives token ids with log-probabilities.
 *
 * Its profile says `trains: false`: `train` fails, `save` refers to the policy that is served, and `restore` takes that
 * reference alone. The policy is its own reference; it is scored where the server gives log-probabilities of a prompt.
 * What the server can do is asked with a prompt of a few tokens at the start, and every answer is checked: token ids of the
 * vocabulary, log-probabilities that can be such, their number. The key is never part of an error or a log.
 */
export const layer = (options: Served.ServedOptions): Layer.Layer<Engine, EngineError, HttpClient.HttpClient> =>
  Layer.effect(Engine, make(options))

const make = Effect.fn("CompletionsEngine.make")(function* (
  options: Served.ServedOptions
): Effect.fn.Return<Engine.Interface, EngineError, HttpClient.HttpClient> {
  const { tokenizer, url } = options
  const served = yield* Served.make(options)
  const { concurrency, connection, dialect, fail, model, scores } = served
  const questions = Questions.make(connection, { dialect, model, tokenizer })
  const permits = yield* Semaphore.make(concurrency)
  const sampleOne = sampling(served, questions, permits)

  return {
    profile: profileOf(served),
    tokenizer,
    sampler: Effect.succeed(model),

    sample: Effect.fn("CompletionsEngine.sample")(
      function* (requests) {
        const empty = requests.findIndex(({ prompt }) => prompt.length === 0)
        if (empty >= 0)
          return yield* new EngineError({
            operation: "sample",
            reason: `requests[${empty}].prompt.length is 0, expected at least 1`
          })
        return yield* Effect.forEach(requests, sampleOne, { concurrency: "unbounded" })
      },
      Effect.mapError(fail("sample"))
    ),

    train: () =>
      Effect.fail(
        new EngineError({
          operation: "train",
          reason: `${url} samples and does not train; evolve instructions alone, or name a server of the Tinker protocol`
        })
      ),

    score: Effect.fn("CompletionsEngine.score")(
      function* (_, sequences) {
        const { scoring } = dialect
        if (!scores || scoring === null)
          return yield* new EngineError({
            operation: "score",
            reason: `${url} gives no log-probabilities of a prompt, which a KL term needs`
          })
        return yield* Effect.forEach(
          sequences,
          (sequence) =>
            sequence.response.length === 0
              ? Effect.succeed([])
              : permits.withPermit(questions.score(scoring, sequence)),
          { concurrency: "unbounded" }
        )
      },
      Effect.mapError(fail("score"))
    ),

    ...frozenPolicy(model, "", `: ${url} serves one policy and loads no other`)
  }
})

/** Samples what one request asks for, each sequence by a question of its own where the server takes no count. */
const sampling =
  ({ contextLength, dialect }: Served.Served, questions: Questions.Questions, permits: Semaphore.Semaphore) =>
  (request: SampleRequest) => {
    const room = Math.min(request.maxTokens, contextLength - request.prompt.length)
    if (room <= 0) return Effect.succeed(unsampled(request.n))
    const bounded = { ...request, maxTokens: room }
    const one = (n: number, seed: string) => permits.withPermit(questions.sample(bounded, n, seed))
    return dialect.several || request.n === 1
      ? Effect.map(one(request.n, request.seed), (sequences) => ({ sequences }))
      : Effect.map(
          Effect.forEach(Array.from({ length: request.n }).keys(), (index) => one(1, `${request.seed}/${index}`), {
            concurrency: "unbounded"
          }),
          (parts) => ({ sequences: parts.flat() })
        )
  }

const profileOf = ({ concurrency, contextLength, dialect, model, scores }: Served.Served): EngineProfile => ({
  name: `completions/${dialect.name}`,
  model,
  parameters: 0,
  stopTexts: "any",
  deterministic: false,
  fingerprint: `${dialect.name}:${model}`,
  contextLength,
  concurrency,
  lanes: 16,
  topK: true,
  trains: false,
  klInLoss: false,
  scoresReference: scores,
  removesCheckpoints: false
})
