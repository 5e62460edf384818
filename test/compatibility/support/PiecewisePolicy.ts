/** A policy that follows a script, in tokens that no tokenizer would choose, with log-probabilities that depend on all before them. */
import { Engine, type SampleRequest, type SampleResult, type Sequence, type Tokenizer } from "@inspo/engine"
import { RandomStream } from "@inspo/domain"
import { ScriptedEngine } from "@inspo/rollout/testing"
import { Effect } from "effect"

/** What was sampled, request by request. */
export interface Sampled {
  readonly request: SampleRequest
  readonly result: SampleResult
}

/** `sampled` gets all that is sampled. */
export const make = (
  tokenizer: Tokenizer,
  script: ScriptedEngine.Script,
  sampled: Array<Sampled>
): Engine.Interface => {
  const sampleOne = (request: SampleRequest): SampleResult => ({
    sequences: Array.from({ length: request.n }, (_, index) => {
      const text = script(tokenizer.decode(request.prompt), { seed: request.seed, index })
      const random = RandomStream.fromText(`${request.seed}/${index}`)
      const pieces = text.match(/<[^>]*>|[^<]{1,3}/gu) ?? []
      const whole = pieces
        .flatMap((piece) => (random.next() < 0.5 ? Array.from(piece) : [piece]).flatMap(tokenizer.encode))
        .concat(tokenizer.endOfSequence)
      const tokens = whole.slice(0, request.maxTokens)
      const stopReason = tokens.length === whole.length ? "stop" : "length"
      return { tokens, logprobs: scoreOf({ prompt: request.prompt, response: tokens }), stopReason }
    })
  })
  const sample: Engine.Interface["sample"] = (requests) =>
    Effect.sync(() =>
      requests.map((request) => {
        const result = sampleOne(request)
        sampled.push({ request, result })
        return result
      })
    )
  return Engine.of({ ...ScriptedEngine.make(script, { contextLength: 32_768 }), tokenizer, sample })
}

/** The log-probabilities of a response: each depends on all tokens before it. */
export const scoreOf = ({ prompt, response }: Sequence): ReadonlyArray<number> => {
  let seen = prompt.reduce(mixed, 1)
  return response.map((token) => {
    seen = mixed(seen, token)
    return -(seen % 1000) / 250
  })
}

const mixed = (seen: number, token: number): number => (seen * 31 + token + 7) % 1_000_003
