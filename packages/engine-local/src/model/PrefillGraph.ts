import { Array as Arr } from "effect"
import { Graph, unknown } from "../graph/Graph.ts"
import { linear } from "../graph/Linear.ts"
import { rmsNorm } from "../graph/Elementwise.ts"
import type { Program } from "../graph/Program.ts"
import { cachedAttention, type CacheSize, declareCache } from "./CachedAttention.ts"
import type { ModelConfig } from "./ModelConfig.ts"
import { declareIndices, declareParameters, embed, feedForward } from "./Transformer.ts"

/** Tokens that a prefill step takes per row. It starts at a multiple of this. */
export const prefillBlock = 16

/**
 * Many decoding steps at once, for tokens that are known: `rows` independent sequences each take `prefillBlock` tokens.
 *
 * The inputs are those of `decodeGraph`, except that `tokens`, `previous` and `positions` are `[rows · prefillBlock]`, row
 * by row. The outputs are `newKeys{l}` and `newValues{l}` float32 `[rows · prefillBlock, KH · hd]`, the same bits that
 * `decodeGraph` gives for one token after the other. What a token gives depends on none after it in its row.
 */
export const prefillGraph = (config: ModelConfig, size: CacheSize): Program => {
  const graph = new Graph()
  const parameters = declareParameters(graph, config)
  const n = size.rows === unknown ? unknown : size.rows * prefillBlock
  const cache = declareCache(graph, config, size)

  let { x } = embed(graph, parameters, declareIndices(graph, n))
  Arr.zip(parameters.layers, cache).forEach(([layer, cached], index) => {
    const qkv = linear(graph, rmsNorm(graph, x), layer.qkv)
    const { heads, keys, values } = cachedAttention(graph, config, qkv, cached, prefillBlock)
    // The last layer's is left out when the program is built: nothing depends on it.
    x = feedForward(graph, layer, x, heads)
    graph.output(`newKeys${index}`, keys)
    graph.output(`newValues${index}`, values)
  })
  return graph.build()
}
