import { notFiniteWords, type SampledSequence, type Sequence } from "@inspo/engine"
import { Result } from "effect"
import * as Protobuf from "../../Protobuf.ts"
import * as Wire from "../../Wire.ts"
import * as Metrics from "./Metrics.ts"
import * as Reply from "./Reply.ts"

/** Reads samples: `count` sequences of at most `most` tokens out of `vocabulary`, each token with its log-probability. */
export const readSamples = (
  count: number,
  most: number,
  vocabulary: number
): Reply.Decode<ReadonlyArray<SampledSequence>> =>
  Reply.refine(decodeSamples, ({ sequences }) => {
    if (sequences.length !== count) return Result.fail(`${sequences.length} sequences, expected ${count}`)
    const read: Array<SampledSequence> = []
    for (const [index, { logprobs, stop_reason: stopReason, tokens }] of sequences.entries()) {
      if (tokens.length > most) return Result.fail(`a sequence of ${tokens.length} tokens, expected at most ${most}`)
      if (logprobs?.length !== tokens.length)
        return Result.fail(`${logprobs?.length ?? "no"} log-probabilities of ${tokens.length} tokens`)
      const problem = unknownToken(tokens, vocabulary, index) ?? impossible(logprobs, `of sequence ${index}`)
      if (problem !== null) return Result.fail(problem)
      read.push({ tokens, logprobs, stopReason })
    }
    return Result.succeed(read)
  })

/** Reads the log-probabilities of a response, from those of a prompt that is the whole sequence. */
export const readPromptLogprobs = ({ prompt, response }: Sequence): Reply.Decode<ReadonlyArray<number>> =>
  Reply.refine(decodeSamples, ({ prompt_logprobs: found }) => {
    // The first token has none: servers give null for it, or leave it out.
    const length = prompt.length + response.length
    if (found?.length !== length && found?.length !== length - 1)
      return Result.fail(`${found?.length ?? "no"} prompt log-probabilities, expected ${length}`)
    const values = found.slice(found.length - response.length).map((value) => value ?? NaN)
    const problem = impossible(values, "of the response")
    return problem === null ? Result.succeed(values) : Result.fail(problem)
  })

/** Reads the log-probabilities that a loss gave, for every target of every datum. */
export const readLosses = (data: ReadonlyArray<Wire.Datum>): Reply.Decode<ReadonlyArray<ReadonlyArray<number>>> =>
  Reply.refine(decodeLosses, ({ loss_fn_outputs: outputs }) => {
    if (outputs.length !== data.length)
      return Result.fail(`outputs of ${outputs.length} datums, expected ${data.length}`)
    const read: Array<ReadonlyArray<number>> = []
    for (const [index, datum] of data.entries()) {
      const expected = datum.loss_fn_inputs["target_tokens"]?.data.length
      const logprobs = outputs[index]?.["logprobs"]?.data
      if (logprobs === undefined || logprobs.length !== expected)
        return Result.fail(`${logprobs?.length ?? "no"} log-probabilities of datum ${index}, expected ${expected}`)
      const problem = impossible(logprobs, `of datum ${index}`)
      if (problem !== null) return Result.fail(problem)
      read.push(logprobs)
    }
    return Result.succeed(read)
  })

/** Reads the metrics of an optimizer step. */
export const readStep: Reply.Decode<Readonly<Record<string, number>>> = Reply.refine(
  Reply.json(Wire.OptimStepResponse),
  ({ metrics }) => {
    const norm = Metrics.gradientNorm(metrics ?? {})
    return norm === undefined || Number.isFinite(norm)
      ? Result.succeed(metrics ?? {})
      : Result.fail(`${notFiniteWords}, with a gradient of norm ${norm}; lower the learning rate`)
  }
)

const decodeSamples = Reply.either(Protobuf.decodeSampleResponse, Reply.json(Wire.SampleResponse))
const decodeLosses = Reply.either(Protobuf.decodeForwardBackwardOutput, Reply.json(Wire.ForwardBackwardOutput))

const unknownToken = (tokens: ReadonlyArray<number>, vocabulary: number, sequence: number): string | null => {
  const at = tokens.findIndex((token) => token < 0 || token >= vocabulary)
  return at < 0
    ? null
    : `token ${at} of sequence ${sequence} is ${tokens[at]}, expected an id from 0 to ${vocabulary - 1}`
}

const impossible = (logprobs: ReadonlyArray<number>, place: string): string | null => {
  const at = logprobs.findIndex((value) => !Number.isFinite(value) || value > rounding)
  return at < 0
    ? null
    : `log-probability ${at} ${place} is ${logprobs[at]}, expected a finite number that is not above 0`
}

/** How far above 0 a server's arithmetic may put the logarithm of a probability of 1. */
const rounding = 0.01
