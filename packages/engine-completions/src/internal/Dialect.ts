import type { SampledSequence, SampleRequest, Sequence } from "@inspo/engine"
import { Result } from "effect"

/** What is asked for, with the number made from the text of its seed. */
export interface Asked extends Omit<SampleRequest, "seed"> {
  readonly seed: number
}

interface Message {
  readonly path: string
  readonly body: object
}

/** A sequence as it arrives; null means a log-probability that the server leaves out and gives when asked for it. */
export interface Arrived extends Omit<SampledSequence, "logprobs"> {
  readonly logprobs: ReadonlyArray<number | null>
}

/** How a server takes requests with tokens and gives tokens with log-probabilities. Failures say what an answer lacks. */
export interface Dialect {
  readonly name: "vllm" | "sglang" | "llama.cpp"
  /** One request gives all `n` sequences, each from a stream of its own; else one request asks for one. */
  readonly several: boolean
  readonly sample: (model: string, asked: Asked) => Message
  readonly readSamples: (answer: unknown, asked: Asked) => Result.Result<ReadonlyArray<Arrived>, string>
  /** Log-probabilities of given tokens; null where the server has none. */
  readonly scoring: {
    readonly ask: (model: string, sequence: Sequence) => Message
    /** Those of all tokens of the sequence but its first. */
    readonly read: (answer: unknown, sequence: Sequence) => Result.Result<ReadonlyArray<number>, string>
  } | null
  /** What may follow a prompt, for log-probabilities that arrive as null. */
  readonly next?: {
    readonly ask: (prompt: ReadonlyArray<number>, most: number) => Message
    /** The log-probability of a token, or null where it is not among the `most` likely ones. */
    readonly read: (answer: unknown, token: number) => Result.Result<number | null, string>
  }
  /** The server's own tokens of a text, which have to be ours. */
  readonly tokenizing?: {
    readonly ask: (text: string) => Message
    readonly read: (answer: unknown) => Result.Result<ReadonlyArray<number>, string>
  }
}

/** How tokens are drawn without a change. What is left out would be as the model's `generation_config.json` has it. */
export const neutral = {
  top_p: 1,
  top_k: -1,
  min_p: 0,
  repetition_penalty: 1,
  presence_penalty: 0,
  frequency_penalty: 0
}

/** A sequence as the engine gives it, if what arrived is one. */
export const sequence = (
  tokens: ReadonlyArray<number>,
  logprobs: ReadonlyArray<number | null>,
  finish: string | null | undefined
): Result.Result<SampledSequence, string> => {
  if (tokens.length !== logprobs.length)
    return Result.fail(`${logprobs.length} log-probabilities of ${tokens.length} tokens`)
  if (finish !== "stop" && finish !== "length")
    return Result.fail(`the finish reason ${String(finish)}, expected stop or length`)
  return Result.map(logProbabilities(logprobs), (checked) => ({ tokens, logprobs: checked, stopReason: finish }))
}

/** Numbers that can be log-probabilities: finite, and above 0 by no more than rounding makes of certainty. */
export const logProbabilities = (
  values: ReadonlyArray<number | null>
): Result.Result<ReadonlyArray<number>, string> => {
  const wrong = values.findIndex((value) => !isLogProbability(value))
  return values.every(isLogProbability)
    ? Result.succeed(values)
    : Result.fail(`log-probability ${wrong} is ${String(values[wrong])}, expected a finite number of at most 0`)
}

const rounding = 1e-3
const isLogProbability = (value: number | null): value is number =>
  value !== null && Number.isFinite(value) && value <= rounding
