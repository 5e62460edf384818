import { assert, describe, it } from "@effect/vitest"
import { ModelConfig } from "@inspo/engine-local"
import { type PackedGroup, packedInputs, packedValues } from "../../src/internal/PackedBatches.ts"
import { packedGraph, type PackedShape } from "../../src/model/PackedGraph.ts"
import { sequenceInputs } from "../../src/internal/SequenceBatches.ts"
import { sequenceGraph } from "../../src/model/SequenceGraph.ts"
import { Array as Arr, Effect } from "effect"
import { at, distance, dot, gradientError, integers, normals, open, run } from "../graph/Sessions.ts"
import { flatGradient, livelyParameters, multiQuery, parameterValues, small } from "./Models.ts"

const shape: PackedShape = { groups: 4, completions: 3, promptLength: 6, responseLength: 5 }
/** Prompts of all lengths from one token to a full block; fewer groups and completions than there is room for. */
const groups: ReadonlyArray<PackedGroup> = [
  { prompt: tokens("p0", 7), responses: [tokens("r00", 5), tokens("r01", 2), tokens("r02", 4)] },
  { prompt: tokens("p1", 1), responses: [tokens("r10", 3), tokens("r11", 5)] },
  { prompt: tokens("p2", 4), responses: [tokens("r20", 1), tokens("r21", 4), tokens("r22", 5)] }
]
const inputs = packedInputs(shape, groups)
const loss = { clipLow: Float32Array.of(0.8), clipHigh: Float32Array.of(1.2), klCoefficient: Float32Array.of(0.3) }

/** One value per response token, by its place in the groups. */
const perToken = (value: (index: number) => number) => {
  let index = 0
  return packedValues(
    shape,
    groups.map(({ responses }) => responses.map((response) => response.map(() => value(index++))))
  )
}
// Some tokens in between are observations.
const weights = perToken((index) => (index % 5 === 2 ? 0 : 0.2 + (index % 3) / 10))
const counts = weights.map((weight, index) => (weight === 0 ? 0 : 1 + (index % 2)))
const advantages = perToken((index) => (index % 2 === 0 ? 1 : -1) * (0.5 + (index % 7) / 7))
/** Ratios on both sides of both clip bounds, clear of the kinks there. */
const ratios = perToken((index) => [0.5, 0.92, 1.08, 1.6][Math.floor(index / 2) % 4] ?? 1)

/** Everything but the parameters, with old and reference log-probabilities that put the ratios where they should be. */
const grpoInputs = (logprobs: Float32Array) => ({
  ...inputs,
  ...loss,
  weights,
  counts,
  advantages,
  oldLogprobs: logprobs.map((value, index) => value - Math.log((ratios[index] ?? 0) || 1)),
  referenceLogprobs: logprobs.map((value, index) => value + 0.4 * Math.sin(index))
})

const startLogprobs = (config: ModelConfig.ModelConfig, parameters: Float32Array) =>
  Effect.map(
    run(packedGraph(config, { ...shape, mode: "logprob" }), { ...parameterValues(config, parameters), ...inputs }),
    (results) => at(results, "logprobs")
  )

/** The terms of the loss per token in double precision, and its derivative by the log-probability. */
const terms = (logprobs: Float32Array, given: ReturnType<typeof grpoInputs>) =>
  Array.from(logprobs, (logprob, index) => {
    const [weight, advantage] = [weights[index] ?? 0, advantages[index] ?? 0]
    const ratio = Math.exp(logprob - (given.oldLogprobs[index] ?? 0))
    const clippedTerm = Math.min(Math.max(ratio, 0.8), 1.2) * advantage
    const clipped = clippedTerm < ratio * advantage
    const difference = (given.referenceLogprobs[index] ?? 0) - logprob
    const kl = Math.exp(difference) - difference - 1
    return {
      loss: weight * (0.3 * kl - Math.min(ratio * advantage, clippedTerm)),
      kl: weight * kl,
      clipped: clipped ? (counts[index] ?? 0) : 0,
      derivative: weight * (0.3 * (1 - Math.exp(difference)) - (clipped ? 0 : ratio * advantage))
    }
  })
const total = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0)

describe("packedGraph", () => {
  for (const [name, config] of Object.entries({ small, multiQuery })) {
    it.effect(`${name}: loss, kl and clipped are the formula's, and every gradient is the finite difference`, () =>
      Effect.gen(function* () {
        const parameters = livelyParameters(config, name)
        const given = grpoInputs(yield* startLogprobs(config, parameters))
        const evaluate = yield* open(packedGraph(config, { ...shape, mode: "grpo" }))
        const evaluateAt = (flat: Float32Array) => evaluate({ ...parameterValues(config, flat), ...given })
        const results = yield* evaluateAt(parameters)

        const expected = terms(at(results, "logprobs"), given)
        const clipped = total(expected.map((term) => term.clipped))
        assert.isTrue(clipped > 3 && clipped < total(Array.from(counts)))
        assert.strictEqual(at(results, "clipped")[0], clipped)
        assert.closeTo(at(results, "loss")[0] ?? 0, total(expected.map((term) => term.loss)), 1e-5)
        assert.closeTo(at(results, "kl")[0] ?? 0, total(expected.map((term) => term.kl)), 1e-5)

        const gradient = flatGradient(config, inputs, results)
        for (const { name, offset, size } of ModelConfig.parameterLayout(config)) {
          const error = yield* gradientError({
            seed: name,
            point: parameters.slice(offset, offset + size),
            gradient: gradient.slice(offset, offset + size),
            step: 2e-3,
            value: (point) => {
              const moved = parameters.slice()
              moved.set(point, offset)
              return Effect.map(evaluateAt(moved), (moved) =>
                total(terms(at(moved, "logprobs"), given).map((term) => term.loss))
              )
            }
          })
          assert.isBelow(error, 1e-3, name)
        }
      })
    )

    it.effect(`${name}: gives the log-probabilities and the gradient of separate whole sequences`, () =>
      Effect.gen(function* () {
        const parameters = livelyParameters(config, `${name} separate`)
        const given = grpoInputs(yield* startLogprobs(config, parameters))
        const values = parameterValues(config, parameters)
        const packed = yield* run(packedGraph(config, { ...shape, mode: "grpo" }), { ...values, ...given })
        const logprobs = at(packed, "logprobs")
        const derivatives = terms(logprobs, given).map((term) => term.derivative)

        const length = shape.promptLength + shape.responseLength
        const sequences = Arr.flatten(
          groups.map(({ prompt, responses }) => responses.map((response) => [...prompt, ...response]))
        )
        const separate = { rows: sequences.length, length }
        const separateInputs = sequenceInputs(separate, sequences)
        const weights = new Float32Array(separate.rows * length)
        const places = tokenPlaces(length)
        for (const { packed, separate } of places) weights[separate] = -(derivatives[packed] ?? 0)
        const results = yield* run(sequenceGraph(config, { ...separate, mode: "cross-entropy" }), {
          ...values,
          ...separateInputs,
          weights
        })
        for (const { packed, separate } of places) {
          assert.closeTo(logprobs[packed] ?? Number.NaN, at(results, "logprobs")[separate] ?? 0, 1e-5)
        }
        const gradient = flatGradient(config, inputs, packed)
        const expected = flatGradient(config, separateInputs, results)
        for (const { name, offset, size } of ModelConfig.parameterLayout(config)) {
          const part = [offset, offset + size] as const
          assert.isBelow(distance(gradient.slice(...part), expected.slice(...part)), 1e-4, name)
        }
      })
    )
  }

  it.effect("gives the same bits whatever the padding holds, weights aside", () =>
    Effect.gen(function* () {
      const parameters = livelyParameters(small, "padding")
      const evaluate = yield* open(packedGraph(small, { ...shape, mode: "grpo" }))
      const given = { ...parameterValues(small, parameters), ...grpoInputs(yield* startLogprobs(small, parameters)) }
      const before = yield* evaluate(given)
      const noise = normals("noise", weights.length)
      const swap = (values: Float32Array) =>
        values.map((value, index) => (weights[index] === 0 ? (noise[index] ?? 0) : value))
      const after = yield* evaluate({
        ...given,
        advantages: swap(advantages),
        oldLogprobs: swap(given.oldLogprobs),
        referenceLogprobs: swap(given.referenceLogprobs)
      })
      assert.deepStrictEqual(after, before)
    })
  )

  it.effect("leaves the reference out when the KL coefficient is 0", () =>
    Effect.gen(function* () {
      const parameters = livelyParameters(small, "reference")
      const logprobs = yield* startLogprobs(small, parameters)
      const evaluate = yield* open(packedGraph(small, { ...shape, mode: "grpo" }))
      const given = {
        ...parameterValues(small, parameters),
        ...grpoInputs(logprobs),
        klCoefficient: Float32Array.of(0)
      }
      const { kl: _, ...before } = yield* evaluate(given)
      const { kl: __, ...after } = yield* evaluate({ ...given, referenceLogprobs: logprobs })
      assert.deepStrictEqual(after, before)
      assert.isAbove(dot(at(after, "d_emb"), at(after, "d_emb")), 0)
    })
  )
})

describe("packedInputs", () => {
  it("predicts every response token once, from the token before it and at its position", () => {
    const promptRows = shape.groups * shape.promptLength
    const sequences = Arr.flatten(
      groups.map(({ prompt, responses }) => responses.map((response) => ({ prompt, all: [...prompt, ...response] })))
    )
    for (const { packed, sequence, position } of tokenPlaces(1)) {
      const { all } = sequences[sequence] ?? { all: [] }
      assert.strictEqual(inputs.targets[packed], BigInt(all[position + 1] ?? -1))
      assert.strictEqual(inputs.tokens[promptRows + packed], BigInt(all[position] ?? -1))
      assert.strictEqual(inputs.previous[promptRows + packed], BigInt(all[position - 1] ?? 0))
      assert.strictEqual(inputs.positions[promptRows + packed], BigInt(position))
    }
  })

  it("refuses what does not fit, and names it", () => {
    const one = { groups: 1, completions: 1, promptLength: 1, responseLength: 1 }
    const fits = { prompt: [1, 2], responses: [[3]] }
    assert.throws(() => packedInputs(one, [fits, fits]), "2 groups do not fit")
    assert.throws(() => packedInputs(one, [{ ...fits, prompt: [1, 2, 3] }]), "2 prompt tokens do not fit")
    assert.throws(() => packedInputs(one, [{ ...fits, responses: [[3], [4]] }]), "2 completions do not fit")
    assert.throws(() => packedInputs(one, [{ ...fits, responses: [[3, 4]] }]), "2 response tokens do not fit")
  })
})

/** Where each response token is predicted: its row in the pack and among separate sequences of `length` slots. */
function tokenPlaces(length: number) {
  let sequence = -1
  return groups.flatMap(({ prompt, responses }, group) =>
    responses.flatMap((response, completion) => {
      sequence++
      return response.map((_, slot) => ({
        packed: (group * shape.completions + completion) * shape.responseLength + slot,
        separate: sequence * length + prompt.length - 1 + slot,
        sequence,
        position: prompt.length - 1 + slot
      }))
    })
  )
}

function tokens(seed: string, length: number): Array<number> {
  return integers(seed, length, small.vocabulary)
}
