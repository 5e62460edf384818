import { assert, describe, it } from "@effect/vitest"
import { draw, type SamplingOptions } from "../src/Sampling.ts"
import { Schema } from "effect"

const Weights = Schema.NonEmptyArray(Schema.Literals([0, 1, 2, 3, 5, 8])).check(
  Schema.isMaxLength(8),
  Schema.makeFilter((weights) => weights.some((weight) => weight > 0))
)
const Temperature = Schema.Literals([0.25, 0.5, 1, 2])
const TopP = Schema.Literals([0.1, 0.5, 0.9, 1])
const Uniform = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 0.999999 }))

const normalise = (weights: ReadonlyArray<number>): ReadonlyArray<number> => {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => weight / total)
}

/** How often each token is drawn over evenly spaced uniform draws. */
const frequencies = (probabilities: ReadonlyArray<number>, options: SamplingOptions): ReadonlyArray<number> => {
  const points = 1000
  const counts = probabilities.map(() => 0)
  for (let point = 0; point < points; point++) {
    const token = draw(Float32Array.from(probabilities), (point + 0.5) / points, options)
    counts[token] = (counts[token] ?? 0) + 1
  }
  return counts.map((count) => count / points)
}

describe("Sampling", () => {
  it.prop(
    "draws each token as often as its tempered probability says",
    [Weights, Temperature],
    ([weights, temperature]) => {
      const probabilities = normalise(weights)
      const expected = normalise(probabilities.map((p) => p ** (1 / temperature)))
      frequencies(probabilities, { temperature, topP: 1 }).forEach((frequency, token) =>
        assert.closeTo(frequency, expected[token] ?? NaN, 4e-3)
      )
    },
    { arbitrary: { runs: 30 } }
  )

  it.prop(
    "draws from the smallest set of likeliest tokens that reaches topP",
    [Weights, TopP],
    ([weights, topP]) => {
      const probabilities = normalise(weights)
      const drawn = frequencies(probabilities, { temperature: 1, topP }).flatMap((f, token) => (f > 0 ? [token] : []))
      const mass = (tokens: ReadonlyArray<number>) =>
        tokens.reduce((sum, token) => sum + (probabilities[token] ?? 0), 0)
      const leastLikely = Math.min(...drawn.map((token) => probabilities[token] ?? 0))
      assert.isAtLeast(mass(drawn), topP - 1e-6)
      assert.isBelow(mass(drawn) - leastLikely, topP + 1e-6)
      probabilities.forEach((p, token) => {
        if (p > leastLikely + 1e-9) assert.include(drawn, token)
      })
    },
    { arbitrary: { runs: 30 } }
  )

  it.prop(
    "draws from the topK likeliest as they are likely among each other",
    [Weights, Schema.Literals([1, 2, 3, 8])],
    ([weights, topK]) => {
      const probabilities = normalise(weights)
      const kept = new Set(
        Array.from(probabilities.keys())
          .toSorted((a, b) => (probabilities[b] ?? 0) - (probabilities[a] ?? 0) || a - b)
          .slice(0, topK)
      )
      const expected = normalise(probabilities.map((p, token) => (kept.has(token) ? p : 0)))
      frequencies(probabilities, { temperature: 1, topP: 1, topK }).forEach((frequency, token) =>
        assert.closeTo(frequency, expected[token] ?? NaN, 4e-3)
      )
    },
    { arbitrary: { runs: 30 } }
  )

  it.prop("takes the likeliest at temperature 0", [Weights, Uniform, TopP], ([weights, u, topP]) => {
    const token = draw(Float32Array.from(normalise(weights)), u, { temperature: 0, topP })
    assert.strictEqual(token, weights.indexOf(weights.reduce((most, weight) => (weight > most ? weight : most))))
  })

  it.prop("never draws what cannot happen", [Weights, Temperature, TopP], ([weights, temperature, topP]) => {
    for (const u of [0, 0.5, 1 - 2 ** -53]) {
      const token = draw(Float32Array.from(normalise(weights)), u, { temperature, topP })
      assert.isAbove(weights[token] ?? 0, 0)
    }
  })
})
