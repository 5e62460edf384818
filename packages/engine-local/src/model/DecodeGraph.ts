import { Array as Arr } from "effect"
import { Graph } from "../graph/Graph.ts"
import { linear, linearTransposed } from "../graph/Linear.ts"
import { rmsNorm } from "../graph/Elementwise.ts"
import type { Program } from "../graph/Program.ts"
import { cachedAttention, type CacheSize, declareCache } from "./CachedAttention.ts"
import type { ModelConfig } from "./ModelConfig.ts"
import { declareIndices, declareParameters, embed, feedForward } from "./Transformer.ts"

/**
 * One decoding step: `rows` independent sequences each take one token and get the distribution of the next one.
 *
 * The inputs are every parameter by its name in `parameterLayout`, the cache as `declareCache` lays it out, and
 * `tokens` int64 `[rows]`: the token each row takes; `previous` int64 `[rows]`: the token before it, 0 at the start of
 * a sequence; `positions` int64 `[rows]`: its position, counted from 0.
 *
 * The outputs are `probs` float32 `[rows, vocabulary]` (temperature 1) and per layer `newKeys{l}` and `newValues{l}`
 * float32 `[rows, KH · hd]`, to be written into the cache for position `positions[row]`.
 *
 * A row of outputs is a function of that row of inputs alone, bit for bit, whatever the other rows and unused slots hold,
 * however many rows there are, and whatever the context, if it is a multiple of 16. A single row would go through other
 * kernels, which round differently, so there must be at least 2.
 */
export const decodeGraph = (config: ModelConfig, size: CacheSize): Program => {
  const graph = new Graph()
  const parameters = declareParameters(graph, config)
  const indices = declareIndices(graph, size.rows)
  const cache = declareCache(graph, config, size)

  let { x } = embed(graph, parameters, indices)
  Arr.zip(parameters.layers, cache).forEach(([layer, cached], index) => {
    const qkv = linear(graph, rmsNorm(graph, x), layer.qkv)
    const { heads, keys, values } = cachedAttention(graph, config, qkv, cached, 1)
    x = feedForward(graph, layer, x, heads)
    graph.output(`newKeys${index}`, keys)
    graph.output(`newValues${index}`, values)
  })
  const logits = linearTransposed(graph, rmsNorm(graph, x), parameters.emb)
  graph.output("probs", graph.node("Softmax", [logits], logits.shape, { axis: -1 }))
  return graph.build()
}
