import { assert, describe, it } from "@effect/vitest"
import { decodeGraph } from "../../src/model/DecodeGraph.ts"
import { ModelConfig } from "@inspo/engine-local"
import { sequenceInputs } from "../../src/internal/SequenceBatches.ts"
import { sequenceGraph } from "../../src/model/SequenceGraph.ts"
import { Effect } from "effect"
import { at, integers, normals, run, type Results } from "../graph/Sessions.ts"
import { decode, freshCache } from "./Decoding.ts"
import { livelyParameters, multiQuery, parameterValues, small } from "./Models.ts"

describe("decodeGraph", () => {
  for (const [name, config] of Object.entries({ small, multiQuery })) {
    it.effect(`${name}: a token at a time gives the log-probabilities of the whole sequence`, () =>
      Effect.gen(function* () {
        const parameters = livelyParameters(config, name)
        const sequences = [15, 4, 9].map((length, row) => integers(`${name} ${row}`, length, config.vocabulary))
        const { logprobs } = yield* decode(config, parameters, 20, sequences)
        const shape = { rows: sequences.length, length: 14 }
        const whole = yield* run(sequenceGraph(config, { ...shape, mode: "logprob" }), {
          ...parameterValues(config, parameters),
          ...sequenceInputs(shape, sequences)
        })
        for (const [row, sequence] of sequences.entries()) {
          for (let slot = 0; slot < sequence.length - 1; slot++) {
            const expected = at(whole, "logprobs")[row * shape.length + slot] ?? Number.NaN
            assert.closeTo(logprobs[row]?.[slot] ?? Number.NaN, expected, 1e-5, `row ${row}, token ${slot + 1}`)
          }
        }
      })
    )
  }

  it.effect("a row's outputs are the same bits in every batch", () =>
    Effect.gen(function* () {
      const config: ModelConfig.ModelConfig = {
        vocabulary: 333,
        width: 96,
        layers: 2,
        heads: 4,
        keyValueHeads: 1,
        feedForward: 4,
        context: 64
      }
      const context = 40
      const parameters = parameterValues(config, ModelConfig.initialParameters(config, "batch"))
      /** One row in use, at `row` of `rows`, among others that hold anything. */
      const placed = Effect.fnUntraced(function* (rows: number, row: number) {
        const seed = `others of ${row} in ${rows}`
        const place = (name: string, stride: number) => {
          const values = normals(`${seed} ${name}`, rows * stride)
          values.set(normals(`the row ${name}`, stride), row * stride)
          return values
        }
        const ids = (name: string, below: number) => {
          const values = BigInt64Array.from(integers(`${seed} ${name}`, rows, below), BigInt)
          values[row] = BigInt(integers(`the row ${name}`, 1, below)[0] ?? 0)
          return values
        }
        const fresh = freshCache(config, rows, context)
        const results = yield* run(decodeGraph(config, { rows, context }), {
          ...parameters,
          ...Object.fromEntries(Object.entries(fresh).map(([name, { length }]) => [name, place(name, length / rows)])),
          tokens: ids("tokens", config.vocabulary),
          previous: ids("previous", config.vocabulary),
          positions: ids("positions", config.context)
        })
        const mine: Results = Object.fromEntries(
          Object.entries(results).map(([name, values]) => {
            const stride = values.length / rows
            return [name, values.slice(row * stride, (row + 1) * stride)]
          })
        )
        return mine
      })
      const expected = yield* placed(16, 3)
      for (const [rows, row] of batches) {
        assert.deepStrictEqual(yield* placed(rows, row), expected, `row ${row} of ${rows}`)
      }
    })
  )

  it.effect("a sequence has the same bits in every context that is a multiple of 16", () =>
    Effect.gen(function* () {
      const parameters = livelyParameters(multiQuery, "contexts")
      const sequences = [15, 9].map((length, row) => integers(`contexts ${row}`, length, multiQuery.vocabulary))
      const expected = yield* decode(multiQuery, parameters, 16, sequences)
      for (const context of [32, 48, 112]) {
        assert.deepStrictEqual(yield* decode(multiQuery, parameters, context, sequences), expected, `${context}`)
      }
    })
  )
})

const batches = [
  [2, 0],
  [3, 2],
  [5, 4],
  [8, 7],
  [13, 12],
  [16, 0],
  [16, 15],
  [31, 30],
  [64, 0],
  [64, 63],
  [80, 41]
] as const
