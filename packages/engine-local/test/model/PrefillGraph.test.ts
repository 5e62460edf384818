import { assert, describe, it } from "@effect/vitest"
import { prefillBlock, prefillGraph } from "../../src/model/PrefillGraph.ts"
import type { ModelConfig } from "@inspo/engine-local"
import { Effect } from "effect"
import { integers, open } from "../graph/Sessions.ts"
import { decode, freshCache, newKeyValues, writeCache } from "./Decoding.ts"
import { livelyParameters, multiQuery, parameterValues, small } from "./Models.ts"

const wide: ModelConfig.ModelConfig = { ...multiQuery, vocabulary: 333, width: 96, context: 64 }
const twoHeads: ModelConfig.ModelConfig = { ...small, context: 64 }
const lengths = [64, 1, 17, 33, 48, 16, 50]

describe("prefillGraph", () => {
  for (const [name, config] of Object.entries({ wide, twoHeads })) {
    it.effect(`${name}: blocks give the bits of a token at a time, for any number of rows and slots`, () =>
      Effect.gen(function* () {
        const parameters = livelyParameters(config, name)
        const sequences = lengths.map((length, row) => integers(`${name} ${row}`, length + 1, config.vocabulary))
        const { keyValues } = yield* decode(config, parameters, 64, sequences)
        for (const [rows, context] of sizes) {
          const together = sequences.slice(0, rows)
          assert.deepStrictEqual(
            yield* prefill(config, parameters, context, together),
            keyValues.slice(0, rows),
            `${rows} rows of ${context} slots`
          )
        }
      })
    )
  }
})

const sizes = [
  [1, 64],
  [2, 64],
  [5, 80],
  [7, 112]
] as const

/** The keys and values of each token but the last, every row as many blocks ahead as it is long. */
const prefill = Effect.fnUntraced(function* (
  config: ModelConfig.ModelConfig,
  parameters: Float32Array,
  context: number,
  sequences: ReadonlyArray<ReadonlyArray<number>>
) {
  const rows = sequences.length
  const step = yield* open(prefillGraph(config, { rows, context }))
  const cache = freshCache(config, rows, context)
  const keyValues = sequences.map((): Array<Array<Float32Array>> => [])
  for (let start = 0; start < 64; start += prefillBlock) {
    const ids = (value: (sequence: ReadonlyArray<number>, position: number) => number) =>
      BigInt64Array.from({ length: rows * prefillBlock }, (_, index) =>
        BigInt(value(sequences[Math.floor(index / prefillBlock)] ?? [], start + (index % prefillBlock)))
      )
    const results = yield* step({
      ...parameterValues(config, parameters),
      ...cache,
      tokens: ids((sequence, position) => sequence[position] ?? 0),
      previous: ids((sequence, position) => sequence[position - 1] ?? 0),
      positions: ids((_, position) => position)
    })
    sequences.forEach((sequence, row) => {
      const end = Math.min(start + prefillBlock, sequence.length - 1)
      for (let position = start; position < end; position++) {
        const added = newKeyValues(config, results, row * prefillBlock + position - start)
        keyValues[row]?.push(added)
        writeCache(config, cache, context, row, position, added)
      }
    })
  }
  return keyValues
})
