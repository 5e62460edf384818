import { ModelConfig } from "@inspo/engine-local"
import { scatterInputGradient } from "../../src/internal/Evaluator.ts"
import { at, normals, type Results, type Values } from "../graph/Sessions.ts"

/** A model with more than one key-value head, each shared by two query heads. */
export const small = {
  vocabulary: 24,
  width: 16,
  layers: 2,
  heads: 4,
  keyValueHeads: 2,
  feedForward: 3,
  context: 32
} satisfies ModelConfig.ModelConfig

/** The same with multi-query attention and one more layer. */
export const multiQuery = { ...small, keyValueHeads: 1, layers: 3 } satisfies ModelConfig.ModelConfig

/** Parameters large enough for attention to be far from uniform. */
export const livelyParameters = (config: ModelConfig.ModelConfig, seed: string): Float32Array => {
  const flat = normals(seed, ModelConfig.parameterCount(config))
  for (const { offset, size, shape } of ModelConfig.parameterLayout(config)) {
    const deviation = 1.5 / Math.sqrt(shape[1])
    for (let index = offset; index < offset + size; index++) flat[index] = (flat[index] ?? 0) * deviation
  }
  return flat
}

/** The gradient of every parameter from the outputs of a training graph, flat. */
export const flatGradient = (
  config: ModelConfig.ModelConfig,
  inputs: { readonly tokens: BigInt64Array; readonly previous: BigInt64Array; readonly positions: BigInt64Array },
  results: Results
): Float32Array => {
  const gradient = new Float32Array(ModelConfig.parameterCount(config))
  for (const { name, offset } of ModelConfig.parameterLayout(config)) {
    if (name !== "pos") gradient.set(at(results, `d_${name}`), offset)
  }
  scatterInputGradient(config, { ...inputs, dx0: at(results, "dx0"), dprev: at(results, "dprev") }, gradient)
  return gradient
}

export const parameterValues = (config: ModelConfig.ModelConfig, flat: Float32Array): Values =>
  ModelConfig.views(config, flat)
