import { add } from "../graph/Elementwise.ts"
import { Graph } from "../graph/Graph.ts"
import { concatenate, reshape, splitInThree, splitInTwo } from "../graph/Layout.ts"
import { linear, linearTransposed } from "../graph/Linear.ts"
import { rmsNorm } from "../graph/Normalization.ts"
import type { Program } from "../graph/Program.ts"
import { headWidth, keyValueWidth, type ModelConfig } from "./ModelConfig.ts"
import { declareIndices, declareParameters, embed, feedForward } from "./Transformer.ts"

/**
 * One decoding step: `rows` independent sequences each take one token and get the distribution of the next one.
 *
 * With `Tm` = `context`, `KH` key-value heads of width `hd`, the inputs are every parameter by its name in
 * `parameterLayout`, and
 *
 * - `tokens` int64 `[rows]`: the token each row takes; `previous` int64 `[rows]`: the token before it, 0 at the start of
 *   a sequence; `positions` int64 `[rows]`: its position, counted from 0;
 * - `mask` float32 `[rows, 1, 1, Tm + 1]`: 0 on cache slots in use, `maskedScore` on the others; the last slot is the
 *   new token itself and is always 0;
 * - `queryScale` float32 `[1]`: always `hd ** -0.5`; an input because a constant would be fused into a slower kernel;
 * - per layer `l`: `keys{l}` float32 `[rows, KH, hd, Tm]` (transposed) and `values{l}` float32 `[rows, KH, Tm, hd]`: the
 *   cache. Slot `t` holds what the step at position `t` gave; other slots may hold any finite value.
 *
 * The outputs are `probs` float32 `[rows, vocabulary]` (temperature 1) and per layer `newKeys{l}` and `newValues{l}`
 * float32 `[rows, KH, hd]`, to be written into the cache at slot `positions[row]`.
 *
 * A row of outputs is a function of that row of inputs alone, bit for bit, whatever the other rows hold, however many
 * there are, and whatever the context, if it is a multiple of 16 and unused slots of the cache hold zeros. A single row
 * would go through other kernels, which round differently, so fewer than 2 `rows` are a `RangeError`.
 */
export const decodeGraph = (
  config: ModelConfig,
  options: { readonly rows: number; readonly context: number }
): Program => {
  const { rows, context } = options
  if (rows < 2) throw new RangeError(`a decode graph has at least 2 rows, not ${rows}`)
  const { width, keyValueHeads } = config
  const hd = headWidth(config)
  const perKey = config.heads / keyValueHeads
  const graph = new Graph()
  const parameters = declareParameters(graph, config)
  const indices = declareIndices(graph, rows)
  const mask = graph.input("mask", [rows, 1, 1, context + 1])
  const queryScale = graph.input("queryScale", [1])

  let { x } = embed(graph, parameters, indices)
  for (const [index, layer] of parameters.layers.entries()) {
    const keys = graph.input(`keys${index}`, [rows, keyValueHeads, hd, context])
    const values = graph.input(`values${index}`, [rows, keyValueHeads, context, hd])
    const qkv = linear(graph, rmsNorm(graph, x), layer.qkv)
    const [q, k, v] = splitInThree(graph, qkv, 1, [width, keyValueWidth(config), keyValueWidth(config)])
    const heads = [rows, keyValueHeads, perKey, hd]
    const queries = graph.node("Mul", [reshape(graph, q, heads), queryScale], heads)
    const newKeys = reshape(graph, k, [rows, keyValueHeads, 1, hd])
    const newValues = reshape(graph, v, [rows, keyValueHeads, 1, hd])

    const scores = (slots: number) => [rows, keyValueHeads, perKey, slots]
    const cached = graph.node("MatMul", [queries, keys], scores(context))
    const own = graph.node(
      "ReduceSum",
      [graph.node("Mul", [queries, newKeys], heads), graph.integers([-1])],
      scores(1),
      { keepdims: 1 }
    )
    const masked = graph.node("Add", [concatenate(graph, cached, own, 3), mask], scores(context + 1))
    const weights = graph.node("Softmax", [masked], scores(context + 1), { axis: -1 })
    const [cachedWeights, ownWeights] = splitInTwo(graph, weights, 3, context)
    const attended = add(
      graph,
      graph.node("MatMul", [cachedWeights, values], heads),
      graph.node("Mul", [ownWeights, newValues], heads)
    )
    x = feedForward(graph, layer, x, reshape(graph, attended, [rows, width]))

    graph.output(`newKeys${index}`, reshape(graph, k, [rows, keyValueHeads, hd]))
    graph.output(`newValues${index}`, reshape(graph, v, [rows, keyValueHeads, hd]))
  }
  const logits = linearTransposed(graph, rmsNorm(graph, x), parameters.emb)
  graph.output("probs", graph.node("Softmax", [logits], logits.shape, { axis: -1 }))
  return graph.build()
}
