import { Engine, EngineError, type SampledSequence, type SampleRequest, type Sequence } from "@inspo/engine"
import { Effect, Layer } from "effect"
import * as ByteTokenizer from "./ByteTokenizer.ts"

/** What the policy writes after a prompt. `index` counts the sequences of a request. Pure: a sequence depends on its request alone. */
export type Script = (prompt: string, draw: { readonly seed: string; readonly index: number }) => string

/** `contextLength` (default 4096 tokens) and `concurrency` (default 8) are those of the engine's profile. */
export interface Options {
  readonly contextLength?: number
  readonly concurrency?: number
}

/**
 * An engine that follows a script instead of a model, over {@link ByteTokenizer}. It keeps the contract of `sample`:
 * stop texts are part of a sequence and end it, `maxTokens` cuts it, and a script that ends by itself ends with the
 * end-of-sequence token. A request that could exceed the context fails, which reveals a caller that miscounts.
 *
 * The log-probability of a token is a function of the token alone. Training is accepted and changes nothing: the metrics
 * are those of an unchanged policy. Checkpoints are names.
 */
export const layer = (script: Script, options: Options = {}): Layer.Layer<Engine> =>
  Layer.succeed(Engine, make(script, options))

/** The engine of {@link layer}. */
export const make = (script: Script, options: Options = {}): Engine.Interface => {
  const contextLength = options.contextLength ?? 4096
  return {
    profile: {
      name: "scripted",
      model: "script",
      parameters: 0,
      contextLength,
      concurrency: options.concurrency ?? 8,
      deterministic: true,
      fingerprint: "scripted"
    },
    tokenizer: ByteTokenizer.tokenizer,
    sample: (requests) =>
      Effect.forEach(requests, (request) =>
        request.maxTokens < 1 || request.prompt.length + request.maxTokens > contextLength
          ? Effect.fail(
              new EngineError({
                operation: "sample",
                reason:
                  `the request has ${request.prompt.length} prompt tokens and asks for ${request.maxTokens}; ` +
                  `expected at least 1, and at most ${contextLength} together`
              })
            )
          : Effect.succeed({ sequences: Array.from({ length: request.n }, (_, i) => sampled(script, request, i)) })
      ),
    train: ({ datums }) =>
      Effect.succeed({
        loss: datums.reduce(
          (sum, { advantages, weights }) =>
            weights.reduce((sum, weight, i) => sum - weight * (advantages[i] ?? 0), sum),
          0
        ),
        kl: 0,
        clipFraction: 0,
        gradientNorm: 0,
        tokens: datums.reduce((sum, { weights }) => sum + weights.filter((weight) => weight !== 0).length, 0)
      }),
    score: (_, sequences: ReadonlyArray<Sequence>) =>
      Effect.succeed(sequences.map(({ response }) => response.map(logprob))),
    save: (name) => Effect.succeed({ uri: `scripted:${name}`, hash: "scripted" }),
    restore: () => Effect.void,
    remove: () => Effect.void,
    hold: Effect.void
  }
}

/** The log-probability of a token at any position: between -1.7 and -0.1. */
export const logprob = (token: number): number => -((token % 17) + 1) / 10

const sampled = (script: Script, request: SampleRequest, index: number): SampledSequence => {
  const { decode, encode, endOfSequence } = ByteTokenizer.tokenizer
  const text = script(decode(request.prompt), { seed: request.seed, index })
  const ends = request.stop.flatMap((stop) => (text.includes(stop) ? [text.indexOf(stop) + stop.length] : []))
  const whole = ends.length > 0 ? encode(text.slice(0, Math.min(...ends))) : [...encode(text), endOfSequence]
  const tokens = whole.slice(0, request.maxTokens)
  return { tokens, logprobs: tokens.map(logprob), stopReason: tokens.length === whole.length ? "stop" : "length" }
}
