import type { SampledSequence, Sequence } from "@inspo/engine"
import type { Result } from "effect"

/** What is asked for: `seed` is both the engine's text and the number made from it. */
export interface Asked {
  readonly prompt: ReadonlyArray<number>
  readonly n: number
  readonly stop: ReadonlyArray<string>
  readonly maxTokens: number
  readonly temperature: number
  readonly topP: number
  readonly seed: number
}

export interface Message {
  readonly path: string
  readonly body: object
}

/** How a server takes requests with tokens and gives tokens with log-probabilities. Failures say what an answer lacks. */
export interface Dialect {
  readonly name: "vllm" | "sglang"
  /** One request gives all `n` sequences, each from a stream of its own; else one request asks for one. */
  readonly several: boolean
  readonly sample: (model: string, asked: Asked) => Message
  readonly readSamples: (answer: unknown) => Result.Result<ReadonlyArray<SampledSequence>, string>
  readonly score: (model: string, sequence: Sequence) => Message
  /** Log-probabilities of all tokens of the sequence but its first. */
  readonly readScores: (answer: unknown, sequence: Sequence) => Result.Result<ReadonlyArray<number>, string>
}

/** A sequence as the engine gives it, if what arrived is one. */
export const sequence = (
  tokens: ReadonlyArray<number>,
  logprobs: ReadonlyArray<number | null>,
  finish: string | null | undefined
): SampledSequence | string => {
  if (tokens.length !== logprobs.length) return `${logprobs.length} log-probabilities of ${tokens.length} tokens`
  if (!isFinite(logprobs)) return "a log-probability that is not a finite number"
  if (finish !== "stop" && finish !== "length") return `the finish reason ${String(finish)}, expected stop or length`
  return { tokens, logprobs, stopReason: finish }
}

export const isFinite = (values: ReadonlyArray<number | null>): values is ReadonlyArray<number> =>
  values.every(Number.isFinite)
