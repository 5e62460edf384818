import { maskedScore } from "@inspo/engine-local/graph/Attention"
import { decodeGraph } from "@inspo/engine-local/model/DecodeGraph"
import { headWidth, type ModelConfig } from "@inspo/engine-local/model/ModelConfig"
import { Effect } from "effect"
import { at, open, type Results, type Values } from "../graph/Sessions.ts"
import { parameterValues } from "./Models.ts"

/** What a step takes beyond the parameters, with every row at its start and the whole cache masked. */
export const freshInputs = (config: ModelConfig, rows: number, context: number) => {
  const inputs: Record<string, Float32Array> & Values = {}
  const mask = new Float32Array(rows * (context + 1)).fill(maskedScore)
  for (let row = 0; row < rows; row++) mask[row * (context + 1) + context] = 0
  const cache = rows * config.keyValueHeads * headWidth(config) * context
  for (let layer = 0; layer < config.layers; layer++) {
    inputs[`keys${layer}`] = new Float32Array(cache)
    inputs[`values${layer}`] = new Float32Array(cache)
  }
  return { ...inputs, mask, queryScale: Float32Array.of(headWidth(config) ** -0.5) }
}

/** Runs every sequence through the decode graph, a token at a time; the log-probability of each token but the first. */
export const decodeLogprobs = Effect.fnUntraced(function* (
  config: ModelConfig,
  parameters: Float32Array,
  context: number,
  sequences: ReadonlyArray<ReadonlyArray<number>>
) {
  const rows = sequences.length
  const step = yield* open(decodeGraph(config, { rows, context }))
  const state: Record<string, Float32Array> & { mask: Float32Array } = freshInputs(config, rows, context)
  const logprobs = sequences.map((): Array<number> => [])
  const longest = Math.max(...sequences.map(({ length }) => length))
  for (let position = 0; position < longest - 1; position++) {
    const ids = (offset: number) =>
      BigInt64Array.from(sequences, (sequence) => BigInt(sequence[position + offset] ?? 0))
    const results: Results = yield* step({
      ...parameterValues(config, parameters),
      ...state,
      tokens: ids(0),
      previous: ids(-1),
      positions: new BigInt64Array(rows).fill(BigInt(position))
    })
    for (const [row, sequence] of sequences.entries()) {
      state.mask[row * (context + 1) + position] = 0
      const target = sequence[position + 1]
      if (target !== undefined) {
        logprobs[row]?.push(Math.log(at(results, "probs")[row * config.vocabulary + target] ?? 0))
      }
    }
    for (let layer = 0; layer < config.layers; layer++) {
      writeCache(config, context, position, at(state, `keys${layer}`), at(results, `newKeys${layer}`), "transposed")
      writeCache(config, context, position, at(state, `values${layer}`), at(results, `newValues${layer}`), "plain")
    }
  }
  return logprobs
})

const writeCache = (
  config: ModelConfig,
  context: number,
  slot: number,
  cache: Float32Array,
  added: Float32Array,
  order: "transposed" | "plain"
): void => {
  const width = headWidth(config)
  for (const [index, value] of added.entries()) {
    const [head, column] = [Math.floor(index / width), index % width]
    const place = order === "plain" ? slot * width + column : column * context + slot
    cache[head * width * context + place] = value
  }
}
