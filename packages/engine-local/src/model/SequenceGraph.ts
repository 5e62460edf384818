import { attention, causalMask } from "../graph/Attention.ts"
import { rmsNorm, weightedSum } from "../graph/Elementwise.ts"
import { Graph } from "../graph/Graph.ts"
import { splitInThree } from "../graph/Layout.ts"
import { linear, linearTransposed } from "../graph/Linear.ts"
import { logProbability } from "../graph/Loss.ts"
import { joinQueryHeads, splitKeyValueHeads, splitQueryHeads } from "./Heads.ts"
import type { Program } from "../graph/Program.ts"
import { headWidth, keyValueWidth, type ModelConfig } from "./ModelConfig.ts"
import { declareIndices, declareParameters, embed, feedForward, outputGradients } from "./Transformer.ts"

/**
 * Whole sequences, `rows` of `length` tokens each, padded on the right; `N = rows · length`, row-major.
 *
 * Inputs: every parameter by its name, and `tokens`, `previous` (0 at the start), `positions` int64 `[N]`; `targets` int64
 * `[N, 1]`: the token after each; mode `"cross-entropy"` only: `weights` float32 `[N, 1]`, 0 where nothing is learned.
 *
 * Outputs, float32: `logprobs` `[N, 1]`, of the targets; in mode `"cross-entropy"` also `loss` `[]` = -Σ w · logprob and
 * the gradients `d_{name}`, `dx0`, `dprev`, as in `packedGraph`.
 */
export const sequenceGraph = (
  config: ModelConfig,
  options: { readonly rows: number; readonly length: number; readonly mode: "cross-entropy" | "logprob" }
): Program => {
  const { rows, length } = options
  const { width } = config
  const n = rows * length
  const graph = new Graph()
  const parameters = declareParameters(graph, config)
  const embedded = embed(graph, parameters, declareIndices(graph, n))
  const targets = graph.indexInput("targets", [n, 1])
  const mask = causalMask(graph, length, config.heads / config.keyValueHeads)

  let x = embedded.x
  for (const layer of parameters.layers) {
    const qkv = linear(graph, rmsNorm(graph, x), layer.qkv)
    const [q, k, v] = splitInThree(graph, qkv, 1, [width, keyValueWidth(config), keyValueWidth(config)])
    const attended = attention(
      graph,
      splitQueryHeads(graph, q, [rows, length], config),
      {
        keys: splitKeyValueHeads(graph, k, [rows, length], config),
        values: splitKeyValueHeads(graph, v, [rows, length], config),
        mask
      },
      headWidth(config) ** -0.5
    )
    x = feedForward(graph, layer, x, joinQueryHeads(graph, attended, [rows, length], config))
  }
  const logprobs = logProbability(graph, linearTransposed(graph, rmsNorm(graph, x), parameters.emb), targets)
  graph.output("logprobs", logprobs)
  if (options.mode === "cross-entropy") {
    const weights = graph.input("weights", [n, 1])
    const loss = weightedSum(graph, logprobs, graph.node("Neg", [weights], [n, 1]))
    graph.output("loss", loss)
    outputGradients(graph, loss, parameters, embedded)
  }
  return graph.buildForAnySize()
}
