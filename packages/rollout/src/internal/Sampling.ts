import type {
  Engine,
  EngineError,
  EngineProfile,
  SampledSequence,
  SampleRequest,
  SampleResult,
  Tokenizer
} from "@inspo/engine"
import { Effect } from "effect"
import { RolloutError } from "../Episode.ts"

/** Samples one sequence for each request, in one call of the engine, whose answers are checked against its contract. */
export const make = ({ profile, sample, tokenizer }: Engine.Interface) => {
  const stop = stopping(profile, tokenizer)
  return Effect.fnUntraced(function* (
    requests: ReadonlyArray<SampleRequest>
  ): Effect.fn.Return<ReadonlyArray<SampledSequence>, EngineError | RolloutError> {
    if (requests.length === 0) return []
    const results = yield* sample(requests.map(stop.supported))
    const sequences: Array<SampledSequence> = []
    for (const [i, request] of requests.entries())
      sequences.push(stop.enforce(yield* onlySequence(request, results[i]), request))
    return sequences
  })
}

const onlySequence = (
  request: SampleRequest,
  result: SampleResult | undefined
): Effect.Effect<SampledSequence, RolloutError> => {
  const about = (what: string, value: number | string, expected: string, remedy?: string) =>
    Effect.fail(
      new RolloutError({
        field: `the engine's ${what} for the request of seed ${request.seed}`,
        value: String(value),
        expected,
        ...(remedy === undefined ? {} : { remedy })
      })
    )
  const sequence = result?.sequences[0]
  if (sequence === undefined) return about("answer", "missing", "one sequence")
  const { logprobs, tokens } = sequence
  const odd = logprobs.find((logprob) => !Number.isFinite(logprob))
  if (odd !== undefined)
    return about("log-probability", odd, "a finite number", "if the policy has been trained, lower the learning rate")
  if (tokens.length > request.maxTokens) return about("number of tokens", tokens.length, `at most ${request.maxTokens}`)
  return logprobs.length === tokens.length
    ? Effect.succeed(sequence)
    : about("number of log-probabilities", logprobs.length, `${tokens.length}, one for each token`)
}

/** Stop texts for an engine that may take single tokens only. */
interface Stopping {
  /** The request with those stop texts that the engine can stop at. */
  readonly supported: (request: SampleRequest) => SampleRequest
  /**
   * Ends a sequence after the first stop text that the engine could not stop at. The rest is as it would have been
   * sampled, since the start of a sequence does not depend on its end.
   */
  readonly enforce: (sequence: SampledSequence, request: SampleRequest) => SampledSequence
}

const stopping = ({ stopTexts }: Pick<EngineProfile, "stopTexts">, tokenizer: Tokenizer): Stopping => {
  // Every turn asks about the same few texts.
  const single = new Map<string, boolean>()
  const isSingle = (text: string): boolean => {
    const known = single.get(text) ?? tokenizer.encode(text).length === 1
    single.set(text, known)
    return known
  }
  const withheld = ({ stop }: SampleRequest): ReadonlyArray<string> =>
    stopTexts === "single-token" ? stop.filter((text) => !isSingle(text)) : []
  return {
    supported: (request) => {
      const left = withheld(request)
      return left.length === 0 ? request : { ...request, stop: request.stop.filter((text) => !left.includes(text)) }
    },
    enforce: (sequence, request) => {
      const left = withheld(request)
      const holdsOne = (tokens: ReadonlyArray<number>) => {
        const text = tokenizer.decode(tokens)
        return left.some((stop) => text.includes(stop))
      }
      if (left.length === 0 || !holdsOne(sequence.tokens)) return sequence
      const length = sequence.tokens.findIndex((_, i) => holdsOne(sequence.tokens.slice(0, i + 1))) + 1
      return {
        tokens: sequence.tokens.slice(0, length),
        logprobs: sequence.logprobs.slice(0, length),
        stopReason: "stop"
      }
    }
  }
}
