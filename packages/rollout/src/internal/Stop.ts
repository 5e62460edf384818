import type { EngineProfile, SampledSequence, SampleRequest, Tokenizer } from "@inspo/engine"

/** Stop texts for an engine that may take single tokens only. */
export interface Stop {
  /** The request with those stop texts that the engine can stop at. */
  readonly supported: (request: SampleRequest) => SampleRequest
  /**
   * Ends a sequence after the first stop text that the engine could not stop at. The rest is as it would have been
   * sampled, since the start of a sequence does not depend on its end.
   */
  readonly enforce: (sequence: SampledSequence, request: SampleRequest) => SampledSequence
}

export const make = ({ stopTexts }: Pick<EngineProfile, "stopTexts">, tokenizer: Tokenizer): Stop => {
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
