import { maskedScore } from "../../src/graph/Attention.ts"
import { decodeGraph } from "../../src/model/DecodeGraph.ts"
import { ModelConfig } from "@inspo/engine-local"
import { Effect } from "effect"
import { at, normals, open, type Results } from "../graph/Sessions.ts"
import { parameterValues } from "./Models.ts"

/** A cache with nothing in use; what unused slots hold must have no effect, so it is noise. */
export const freshCache = (config: ModelConfig.ModelConfig, rows: number, context: number) => {
  const mask = new Float32Array(rows * (1 + context)).fill(maskedScore)
  for (let row = 0; row < rows; row++) mask[row * (1 + context)] = 0
  const cache: Record<string, Float32Array> & { mask: Float32Array } = { mask }
  const [width, headSize] = [ModelConfig.keyValueWidth(config), ModelConfig.headWidth(config)]
  for (let layer = 0; layer < config.layers; layer++) {
    cache[`keys${layer}`] = normals(`${rows} ${context} keys ${layer}`, rows * width * context)
    const values = normals(`${rows} ${context} values ${layer}`, rows * width * (1 + context))
    for (let head = 0; head < rows * config.keyValueHeads; head++) {
      values.fill(0, head * (1 + context) * headSize, (head * (1 + context) + 1) * headSize)
    }
    cache[`values${layer}`] = values
  }
  return cache
}

/**
 * Runs every sequence through the decode graph, a token at a time: the log-probability of each token but the first, and
 * the keys and values of each token but the last, `[layer][keys, values][position]`.
 */
export const decode = Effect.fnUntraced(function* (
  config: ModelConfig.ModelConfig,
  parameters: Float32Array,
  context: number,
  sequences: ReadonlyArray<ReadonlyArray<number>>
) {
  const rows = sequences.length
  const step = yield* open(decodeGraph(config, { rows, context }))
  const cache = freshCache(config, rows, context)
  const logprobs = sequences.map((): Array<number> => [])
  const keyValues = sequences.map((): Array<Array<Float32Array>> => [])
  const longest = Math.max(...sequences.map(({ length }) => length))
  for (let position = 0; position < longest - 1; position++) {
    const ids = (offset: number) =>
      BigInt64Array.from(sequences, (sequence) => BigInt(sequence[position + offset] ?? 0))
    const results: Results = yield* step({
      ...parameterValues(config, parameters),
      ...cache,
      tokens: ids(0),
      previous: ids(-1),
      positions: new BigInt64Array(rows).fill(BigInt(position))
    })
    for (const [row, sequence] of sequences.entries()) {
      const target = sequence[position + 1]
      if (target === undefined) continue
      logprobs[row]?.push(Math.log(at(results, "probs")[row * config.vocabulary + target] ?? 0))
      keyValues[row]?.push(newKeyValues(config, results, row))
      writeCache(config, cache, context, row, position, newKeyValues(config, results, row))
    }
  }
  return { logprobs, keyValues }
})

/** What a step gave for token number `token`: `[layer][keys, values]`, flat. */
export const newKeyValues = (config: ModelConfig.ModelConfig, results: Results, token: number): Array<Float32Array> => {
  const width = ModelConfig.keyValueWidth(config)
  return Array.from({ length: config.layers }, (_, layer) =>
    [`newKeys${layer}`, `newValues${layer}`].map((name) => at(results, name).slice(token * width, (token + 1) * width))
  ).flat()
}

/** Puts the keys and values of one token into the cache. */
export const writeCache = (
  config: ModelConfig.ModelConfig,
  cache: Record<string, Float32Array> & { readonly mask: Float32Array },
  context: number,
  row: number,
  position: number,
  keyValues: ReadonlyArray<Float32Array>
): void => {
  const [width, headSize] = [ModelConfig.keyValueWidth(config), ModelConfig.headWidth(config)]
  cache.mask[row * (1 + context) + 1 + position] = 0
  for (let layer = 0; layer < config.layers; layer++) {
    const [keys = [], values = []] = keyValues.slice(2 * layer, 2 * layer + 2)
    const [keysOf, valuesOf] = [at(cache, `keys${layer}`), at(cache, `values${layer}`)]
    for (let column = 0; column < width; column++) {
      const [head, place] = [Math.floor(column / headSize), column % headSize]
      keysOf[(row * width + column) * context + position] = keys[column] ?? Number.NaN
      const slot = (row * config.keyValueHeads + head) * (1 + context) + 1 + position
      valuesOf[slot * headSize + place] = values[column] ?? Number.NaN
    }
  }
}
