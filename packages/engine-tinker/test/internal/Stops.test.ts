import { assert, describe, it } from "@effect/vitest"
import type { Engine, SampleRequest } from "@inspo/engine"
import * as TabularEngine from "@inspo/engine/testing/TabularEngine"
import { Effect, Schema } from "effect"
import * as Stops from "../../src/internal/server/Stops.ts"

const request = (seed: number, stop: ReadonlyArray<string>): SampleRequest => ({
  prompt: [1, 2],
  n: 2,
  stop,
  maxTokens: 40,
  temperature: 1,
  topP: 1,
  seed: String(seed)
})

/** Texts of one to three of few characters, so that they occur. */
const Text = Schema.NonEmptyArray(Schema.Literals(["a", "b", "c", "e"])).check(Schema.isMaxLength(3))

describe("Stops", () => {
  it.effect.prop(
    "end a sample with the first token that completes a stop, whatever its length, and change nothing before it",
    [Schema.Int, Schema.NonEmptyArray(Text), Schema.Boolean, Schema.Boolean],
    ([seed, parts, single, asIds]) =>
      Effect.gen(function* () {
        const tabular = yield* TabularEngine.make
        const { tokenizer } = tabular
        const engine: Engine.Interface = single
          ? { ...tabular, profile: { ...tabular.profile, stopTexts: "single-token" } }
          : tabular
        // The tabular engine ends at any token of a stop, which is right for stops of one alone.
        const texts = parts.map((part) => (single ? part : part.slice(0, 1)).join(""))
        const ids = texts.flatMap((text) => tokenizer.encode(text).slice(0, 1))
        const stops = yield* Stops.read(asIds ? ids : texts, engine)
        const [whole] = yield* engine.sample([request(seed, [])])
        const [stopped] = yield* engine.sample([request(seed, stops.texts)])
        whole?.sequences.forEach(({ tokens }, index) => {
          const holds = (length: number) =>
            asIds
              ? tokens.slice(0, length).some((token) => ids.includes(token))
              : texts.some((text) => tokenizer.decode(tokens.slice(0, length)).includes(text))
          const lengths = tokens.map((_, at) => at + 1)
          const expected = tokens.slice(0, lengths.find(holds) ?? tokens.length)
          const own = stopped?.sequences[index]?.tokens ?? []
          assert.deepStrictEqual(own.slice(0, stops.cut(own)), expected)
        })
      }),
    { arbitrary: { runs: 60 } }
  )

  it.effect("that cannot be honoured are refused", () =>
    Effect.gen(function* () {
      const engine = yield* TabularEngine.make
      const size = engine.tokenizer.vocabularySize
      for (const [stop, detail] of [
        [[], /stop is \[\], which asks to go on after the end of sequence/u],
        [[""], /stop holds "", expected texts/u],
        [[size], new RegExp(`stop holds ${size}, expected ids of 0 to ${size - 1}`, "u")]
      ] as const)
        assert.match((yield* Effect.flip(Stops.read(stop, engine))).detail, detail)
    })
  )
})
