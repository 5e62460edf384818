import type { Engine, EngineError, SampledSequence, SampleRequest, SampleResult } from "@inspo/engine"
import { Effect } from "effect"
import { RolloutError } from "../RolloutError.ts"
import * as Stop from "./Stop.ts"

/** Samples one sequence for each request, in one call of the engine, whose answers are checked against its contract. */
export const make = ({ profile, sample, tokenizer }: Engine.Interface) => {
  const stop = Stop.make(profile, tokenizer)
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
