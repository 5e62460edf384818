import { assert, describe, it } from "@effect/vitest"
import type { Engine, SampleRequest } from "@inspo/engine"
import { TabularEngine } from "@inspo/engine/testing"
import { Effect, Schema } from "effect"
import * as RequestStops from "../../src/internal/server/RequestStops.ts"

const request = (seed: number, stop: ReadonlyArray<string>): SampleRequest => ({
  prompt: [1, 2],
  n: 2,
  stop,
  maxTokens: 40,
  temperature: 1,
  topP: 1,
  seed: String(seed)
})

/** Where in a sample a stop lies, so that it occurs. */
const Place = Schema.Struct({
  at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 })),
  length: Schema.Literals([1, 2, 3])
})

describe("Stops", () => {
  it.effect.prop(
    "end a sample with the first token that completes a stop, whatever its length, and change nothing before it",
    [Schema.Int, Schema.NonEmptyArray(Place).check(Schema.isMaxLength(3)), Schema.Boolean],
    ([seed, places, asIds]) =>
      Effect.gen(function* () {
        const tabular = yield* TabularEngine.make
        const { tokenizer } = tabular
        const engine: Engine.Interface = { ...tabular, profile: { ...tabular.profile, stopTexts: "single-token" } }
        const [whole] = yield* engine.sample([request(seed, [])])
        const [first] = whole?.sequences ?? []
        const within = places.flatMap(({ at, length }) => {
          const part = first?.tokens.slice(at, at + length) ?? []
          return part.length === 0 ? [] : [part]
        })
        if (within.length === 0) return
        const texts = within.map((part) => tokenizer.decode(part))
        const ids = within.flatMap((part) => part.slice(0, 1))
        const stops = yield* RequestStops.read(asIds ? ids : texts, engine)
        const [stopped] = yield* engine.sample([request(seed, stops.texts)])
        whole?.sequences.forEach(({ tokens }, index) => {
          const holds = (length: number) =>
            asIds
              ? tokens.slice(0, length).some((token) => ids.includes(token))
              : texts.some((text) => tokenizer.decode(tokens.slice(0, length)).includes(text))
          const lengths = tokens.map((_, at) => at + 1)
          const own = stopped?.sequences[index]?.tokens ?? []
          const [end, expected] = [stops.end(own), lengths.find(holds)]
          assert.strictEqual(end, expected ?? null)
          assert.deepStrictEqual(own.slice(0, end ?? own.length), tokens.slice(0, expected))
        })
      }),
    { arbitrary: { runs: 60 } }
  )

  it.effect("that cannot be honoured are refused", () =>
    Effect.gen(function* () {
      const engine = yield* TabularEngine.make
      const size = engine.tokenizer.vocabularySize
      for (const [stop, detail] of [
        [[], /stop is \[\], which asks to continue after the end of sequence/u],
        [[""], /stop holds "", expected texts/u],
        [[size], new RegExp(`stop holds ${size}, expected ids of 0 to ${size - 1}`, "u")]
      ] as const)
        assert.match((yield* Effect.flip(RequestStops.read(stop, engine))).detail, detail)
    })
  )
})
