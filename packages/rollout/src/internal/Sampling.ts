import {
  type Engine,
  type EngineError,
  type SampledSequence,
  type SampleRequest,
  type SampleResult,
  Stops
} from "@inspo/engine"
import { Effect } from "effect"
import { RolloutError } from "../Episode.ts"

/** Samples one sequence for each request, in one call of the engine, whose answers are checked against its contract. */
export const make = (engine: Engine.Interface) => {
  const { enforce, taken } = Stops.make(engine)
  return Effect.fnUntraced(function* (
    requests: ReadonlyArray<SampleRequest>
  ): Effect.fn.Return<ReadonlyArray<SampledSequence>, EngineError | RolloutError> {
    if (requests.length === 0) return []
    const results = yield* engine.sample(requests.map((request) => ({ ...request, stop: taken(request.stop) })))
    const sequences: Array<SampledSequence> = []
    for (const [i, request] of requests.entries())
      sequences.push(enforce(yield* onlySequence(request, results[i]), request.stop))
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
