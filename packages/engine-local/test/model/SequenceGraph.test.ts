import { assert, describe, it } from "@effect/vitest"
import { ModelConfig } from "@inspo/engine-local"
import { sequenceInputs } from "../../src/internal/SequenceBatches.ts"
import { sequenceGraph } from "../../src/model/SequenceGraph.ts"
import { Effect } from "effect"
import { at, distance, dot, gradientError, integers, open, run } from "../graph/Sessions.ts"
import { flatGradient, livelyParameters, multiQuery, parameterValues, small } from "./Models.ts"
import { referenceLogprobs } from "./Reference.ts"

const shape = { rows: 3, length: 7 }
const lengths = [8, 5, 2]
const sequences = lengths.map((length, row) => integers(`sequence ${row}`, length, small.vocabulary))
const inputs = sequenceInputs(shape, sequences)
/** 0 on padding and on some tokens in between. */
const weights = Float32Array.from({ length: shape.rows * shape.length }, (_, index) => {
  const [row, slot] = [Math.floor(index / shape.length), index % shape.length]
  return slot < (lengths[row] ?? 0) - 1 && index % 4 !== 3 ? 0.5 + (index % 3) : 0
})

describe("sequenceGraph", () => {
  for (const [name, config] of Object.entries({ small, multiQuery })) {
    it.effect(`${name}: gives the log-probabilities of the model's definition`, () =>
      Effect.gen(function* () {
        const parameters = livelyParameters(config, `${name} definition`)
        const results = yield* run(sequenceGraph(config, { ...shape, mode: "logprob" }), {
          ...parameterValues(config, parameters),
          ...inputs
        })
        for (const [row, sequence] of sequences.entries()) {
          for (const [slot, expected] of referenceLogprobs(config, parameters, sequence).entries()) {
            assert.closeTo(at(results, "logprobs")[row * shape.length + slot] ?? Number.NaN, expected, 1e-5)
          }
        }
      })
    )

    it.effect(`cross-entropy, ${name}: every gradient is the finite difference`, () =>
      Effect.gen(function* () {
        const evaluate = yield* open(sequenceGraph(config, { ...shape, mode: "cross-entropy" }))
        const parameters = livelyParameters(config, name)
        const evaluateAt = (flat: Float32Array) => evaluate({ ...parameterValues(config, flat), ...inputs, weights })
        const results = yield* evaluateAt(parameters)
        assert.closeTo(at(results, "loss")[0] ?? 0, -dot(at(results, "logprobs"), weights), 1e-4)
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
              return Effect.map(evaluateAt(moved), (moved) => -dot(at(moved, "logprobs"), weights))
            }
          })
          assert.isBelow(error, 1e-3, name)
        }
      })
    )
  }

  it.effect("gives the log-probabilities of the training graph without its outputs", () =>
    Effect.gen(function* () {
      const parameters = parameterValues(small, livelyParameters(small, "logprob"))
      const scoring = sequenceGraph(small, { ...shape, mode: "logprob" })
      assert.deepStrictEqual(
        scoring.outputs.map(({ name }) => name),
        ["logprobs"]
      )
      const trained = yield* run(sequenceGraph(small, { ...shape, mode: "cross-entropy" }), {
        ...parameters,
        ...inputs,
        weights
      })
      const scored = yield* run(scoring, { ...parameters, ...inputs })
      assert.isBelow(distance(at(scored, "logprobs"), at(trained, "logprobs")), 1e-6)
    })
  )

  it.effect("keeps a token's log-probability when later tokens change", () =>
    Effect.gen(function* () {
      const evaluate = yield* open(sequenceGraph(small, { rows: 1, length: 7, mode: "logprob" }))
      const parameters = parameterValues(small, livelyParameters(small, "causal"))
      const score = (sequence: ReadonlyArray<number>) =>
        Effect.map(evaluate({ ...parameters, ...sequenceInputs({ rows: 1, length: 7 }, [sequence]) }), (results) =>
          at(results, "logprobs")
        )
      const before = yield* score([1, 2, 3, 4, 5, 6, 7, 8])
      const after = yield* score([1, 2, 3, 4, 9, 9, 9, 9])
      assert.isBelow(distance(after.slice(0, 3), before.slice(0, 3)), 1e-6)
      assert.isAbove(distance(after.slice(3), before.slice(3)), 1e-2)
    })
  )

  it("refuses sequences that do not fit", () => {
    assert.throws(() => sequenceInputs({ rows: 1, length: 2 }, [[1, 2, 3, 4]]), "a sequence of 4 tokens")
    assert.throws(() => sequenceInputs({ rows: 1, length: 2 }, [[1], [2]]), "2 sequences do not fit into 1 rows")
  })
})
