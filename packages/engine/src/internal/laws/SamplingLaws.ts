import { Effect } from "effect"
import type { Engine, SampledSequence } from "../../Engine.ts"
import { requests } from "./Conversations.ts"
import { deterministicLaw, isRefused, law, type LawOf, same } from "./Law.ts"

export const samplingLaws: ReadonlyArray<LawOf> = [
  deterministicLaw("a sample is the same alone as among others", (engine, expect, settings) =>
    Effect.gen(function* () {
      const all = requests(engine, settings)
      const together = yield* engine.sample(all)
      for (const [index, request] of all.entries()) {
        const [alone] = yield* engine.sample([request])
        yield* expect(same(alone, together[index]), `request ${index} gave another sample alone`)
      }
    })
  ),

  deterministicLaw("samples follow the order of the requests", (engine, expect, settings) =>
    Effect.gen(function* () {
      const all = requests(engine, settings)
      const forward = yield* engine.sample(all)
      const backward = yield* engine.sample(all.toReversed())
      yield* expect(same(backward.toReversed(), forward), "the same requests in reverse gave other samples")
    })
  ),

  deterministicLaw(
    "equal requests get equal samples, and unequal seeds or positions others",
    (engine, expect, settings) =>
      Effect.gen(function* () {
        const [request] = requests(engine, settings)
        if (request === undefined) return
        const several = { ...request, n: 4 }
        const [one, two, other] = yield* engine.sample([several, several, { ...several, seed: "another" }])
        yield* expect(same(one, two), "the same request twice in a call gave two samples")
        yield* expect(!same(one, other), "another seed gave the same samples")
        const distinct = new Set(one?.sequences.map(({ tokens }) => tokens.join()))
        yield* expect(distinct.size > 1, `${several.n} sequences of one request are all equal`)
      })
  ),

  law("every request gets n sequences, in request order", (engine, expect, settings) =>
    Effect.gen(function* () {
      const all = requests(engine, settings)
      const results = yield* engine.sample(all)
      yield* expect(results.length === all.length, `${results.length} results for ${all.length} requests`)
      for (const [index, { n }] of all.entries()) {
        const count = results[index]?.sequences.length
        yield* expect(count === n, `request ${index} requested ${n} sequences and got ${count}`)
      }
      yield* expect((yield* engine.sample([])).length === 0, "no requests gave results")
    })
  ),

  law("a sequence ends at the first stop, or at maxTokens", (engine, expect, settings) =>
    Effect.gen(function* () {
      const all = requests(engine, settings)
      const free = yield* engine.sample(all)
      const stops = all.map((_, index) => singleToken(engine, free[index]?.sequences[0]))
      const stopped = yield* engine.sample(
        all.map((request, index) => ({ ...request, stop: stops[index]?.text ?? [] }))
      )
      for (const [index, { maxTokens }] of all.entries()) {
        const ends = [engine.tokenizer.endOfSequence, ...(stops[index]?.tokens ?? [])]
        for (const { tokens, logprobs, stopReason } of stopped[index]?.sequences ?? []) {
          const at = tokens.findIndex((token) => ends.includes(token))
          yield* expect(tokens.length <= maxTokens, `${tokens.length} tokens where at most ${maxTokens} were requested`)
          yield* expect(logprobs.length === tokens.length, `${logprobs.length} logprobs for ${tokens.length} tokens`)
          yield* stopReason === "stop"
            ? expect(at === tokens.length - 1, `"stop", but the first stop token is number ${at} of ${tokens.length}`)
            : expect(at < 0 && tokens.length === maxTokens, `"length" at ${tokens.length} of ${maxTokens} tokens`)
        }
        if (engine.profile.deterministic) {
          const cut = cutAt(free[index]?.sequences[0], ends)
          yield* expect(
            same(cut, stopped[index]?.sequences[0]?.tokens),
            `request ${index} with a stop is not the request without it, cut at the stop`
          )
        }
      }
    })
  ),

  law("prompt and response stay within the context", (engine, expect, settings) =>
    Effect.gen(function* () {
      const [request] = requests(engine, settings)
      if (request === undefined) return
      const { contextLength } = engine.profile
      const room = 3
      const filler = Array.from(
        { length: contextLength - room },
        (_, at) => request.prompt[at % request.prompt.length] ?? 0
      )
      const [result] = yield* engine.sample([{ ...request, prompt: filler, maxTokens: 10 * room }])
      for (const { tokens, stopReason } of result?.sequences ?? []) {
        yield* expect(tokens.length <= room, `${tokens.length} tokens where ${room} had room`)
        yield* expect(
          stopReason === "stop" || tokens.length === room,
          `"length" with ${room - tokens.length} tokens of room`
        )
      }
    })
  ),

  deterministicLaw("temperature 0 is greedy: the seed does not matter", (engine, expect, settings) =>
    Effect.gen(function* () {
      const greedy = requests(engine, settings).map((request) => ({ ...request, n: 1, temperature: 0 }))
      const one = yield* engine.sample(greedy)
      const two = yield* engine.sample(greedy.map((request) => ({ ...request, seed: "another" })))
      yield* expect(same(one, two), "another seed gave another greedy sample")
    })
  ),

  law("an empty prompt is refused", (engine, expect, settings) =>
    Effect.gen(function* () {
      const [request] = requests(engine, settings)
      if (request === undefined) return
      const refused = yield* isRefused(engine.sample([{ ...request, prompt: [] }]))
      yield* expect(refused, "an empty prompt was accepted")
    })
  )
]

/** A token of the sequence, not its first, that its own text encodes to. */
const singleToken = (engine: Engine.Interface, sequence: SampledSequence | undefined) => {
  const token = sequence?.tokens
    .slice(1)
    .find((token) => same(engine.tokenizer.encode(engine.tokenizer.decode([token])), [token]))
  return token === undefined ? undefined : { text: [engine.tokenizer.decode([token])], tokens: [token] }
}

/** The tokens up to the first of `ends`. */
const cutAt = (
  sequence: SampledSequence | undefined,
  ends: ReadonlyArray<number>
): ReadonlyArray<number> | undefined => {
  const at = sequence?.tokens.findIndex((token) => ends.includes(token)) ?? -1
  return at < 0 ? sequence?.tokens : sequence?.tokens.slice(0, at + 1)
}
