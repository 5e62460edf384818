import { attention, causalMask } from "../graph/Attention.ts"
import { add, rmsNorm, weightedSum } from "../graph/Elementwise.ts"
import { Graph, type Tensor } from "../graph/Graph.ts"
import { concatenate, repeat, reshape, splitInThree, splitInTwo } from "../graph/Layout.ts"
import { linear, linearTransposed } from "../graph/Linear.ts"
import { clippedSurrogate, klEstimate, logProbability } from "../graph/Loss.ts"
import { joinQueryHeads, splitKeyValueHeads, splitQueryHeads } from "./Heads.ts"
import type { Program } from "../graph/Program.ts"
import { headWidth, keyValueWidth, type ModelConfig } from "./ModelConfig.ts"
import { declareIndices, declareParameters, embed, feedForward, outputGradients } from "./Transformer.ts"

export interface PackedShape {
  readonly groups: number
  /** Completions per prompt. */
  readonly completions: number
  /** Slots per prompt; a prompt of `n` tokens fills `n - 1`. */
  readonly promptLength: number
  /** Slots per response. */
  readonly responseLength: number
}

/**
 * Prompts with several completions each, every prompt computed once: `groups` = G, `completions` = K, `promptLength` =
 * Tp, `responseLength` = Tr. `PackedBatch` fills the inputs; this is their layout.
 *
 * Of `N = N1 + N2` rows the first `N1 = G · Tp` are prompt rows `[G, Tp]`, the other `N2 = G · K · Tr` are response rows
 * `[G, K, Tr]`. A row takes one token; a response row also predicts the token after it. So the last prompt token is
 * the token of the FIRST RESPONSE ROW of each completion, and a prompt of `n` tokens fills `n - 1` prompt slots.
 * Both blocks are padded on the RIGHT; response row `t` has position `n - 1 + t`.
 *
 * Inputs: every parameter by its name, and
 *
 * - `tokens`, `previous`, `positions` int64 `[N]`: token, token before it (0 at the start of a sequence), position;
 * - `promptBias` float32 `[G, 1, 1, Tp]`: 0 on prompt slots in use, `maskedScore` on padding;
 * - `targets` int64 `[N2, 1]`: the response token each response row predicts;
 * - mode `"grpo"` only, all float32 `[N2, 1]`: `weights` and `counts` (0 on padding and observations; a row of count `c`
 *   replaces `c` equal tokens, with the weights of all), `advantages`, `oldLogprobs`, `referenceLogprobs` (with a `klCoefficient` of 0 feed `oldLogprobs`);
 * - mode `"grpo"` only, float32 scalars `[]`: `clipLow` = 1 - ε, `clipHigh` = 1 + ε, `klCoefficient` = β.
 *
 * Outputs: `logprobs` float32 `[N2, 1]`, of the targets; in mode `"grpo"` also, float32,
 *
 * - `loss` `[]`: Σ w (-min(ρA, clip(ρ)A) + β (e^(ref - lp) - (ref - lp) - 1)), ρ = e^(lp - old): GRPO's loss (Shao et al.,
 *   2024, eq. 3) as the plain sum over tokens of weight × term;
 * - `kl` `[]`: Σ w · (the k3 term); `clipped` `[]`: Σ count over tokens whose clipped term was the smaller;
 * - `d_{name}` in the parameter's shape, for all but `pos`; `d_emb` is the share of the output head alone;
 * - `dx0`, `dprev` `[N, width]`: gradients of the embedding rows gathered by `tokens` (and of the position rows, which
 *   are the same) and by `previous`. `scatterInputGradient` adds them to `d_emb` and makes `d_pos`.
 */
export const packedGraph = (
  config: ModelConfig,
  options: PackedShape & { readonly mode: "grpo" | "logprob" }
): Program => {
  const { groups, completions, promptLength, responseLength } = options
  const { width } = config
  const scale = headWidth(config) ** -0.5
  const promptRows = groups * promptLength
  const responseRows = groups * completions * responseLength
  const graph = new Graph()
  const parameters = declareParameters(graph, config)
  const embedded = embed(graph, parameters, declareIndices(graph, promptRows + responseRows))
  const targets = graph.indexInput("targets", [responseRows, 1])
  const promptBias = graph.input("promptBias", [groups, 1, 1, promptLength])
  const perKey = config.heads / config.keyValueHeads
  const promptMask = causalMask(graph, promptLength, perKey)
  const responseMask = maskResponses(graph, options, promptBias, perKey)
  const prompts = [groups, promptLength]
  const responses = [groups, completions, responseLength]

  let x = embedded.x
  for (const [index, layer] of parameters.layers.entries()) {
    const qkv = linear(graph, rmsNorm(graph, x), layer.qkv)
    const [q, k, v] = splitInThree(graph, qkv, 1, [width, keyValueWidth(config), keyValueWidth(config)])
    const [promptQ, responseQ] = splitInTwo(graph, q, 0, promptRows)
    const [promptK, responseK] = splitInTwo(graph, k, 0, promptRows)
    const [promptV, responseV] = splitInTwo(graph, v, 0, promptRows)
    const keys = splitKeyValueHeads(graph, promptK, prompts, config)
    const values = splitKeyValueHeads(graph, promptV, prompts, config)
    // Every completion gets its own copy of the prompt's: they are small beside the scores.
    const extend = (prompt: Tensor, response: Tensor) =>
      concatenate(
        graph,
        repeat(graph, prompt, 2, completions),
        splitKeyValueHeads(graph, response, responses, config),
        3
      )
    const responseQueries = splitQueryHeads(graph, responseQ, responses, config)
    const responseHeads = attention(
      graph,
      reshape(graph, responseQueries, [
        groups,
        config.keyValueHeads,
        completions,
        responseLength * perKey,
        headWidth(config)
      ]),
      { keys: extend(keys, responseK), values: extend(values, responseV), mask: responseMask },
      scale
    )
    const attendedResponses = joinQueryHeads(
      graph,
      reshape(graph, responseHeads, responseQueries.shape),
      responses,
      config
    )
    if (index < config.layers - 1) {
      const promptQueries = splitQueryHeads(graph, promptQ, prompts, config)
      const promptHeads = attention(graph, promptQueries, { keys, values, mask: promptMask }, scale)
      const attendedPrompts = joinQueryHeads(graph, promptHeads, prompts, config)
      x = feedForward(graph, layer, x, concatenate(graph, attendedPrompts, attendedResponses, 0))
    } else {
      // Nothing reads the prompt rows past their last keys and values.
      const [, responseX] = splitInTwo(graph, x, 0, promptRows)
      x = feedForward(graph, layer, responseX, attendedResponses)
    }
  }
  const logits = linearTransposed(graph, rmsNorm(graph, x), parameters.emb)
  const logprobs = logProbability(graph, logits, targets)
  graph.output("logprobs", logprobs)
  if (options.mode === "grpo") outputGradients(graph, outputLoss(graph, logprobs), parameters, embedded)
  return graph.buildForAnySize()
}

/** `[G, 1, 1, Tr · R, Tp + Tr]`: a response looks at all of its prompt and at itself up to the same position. */
const maskResponses = (
  graph: Graph,
  { groups, promptLength, responseLength }: PackedShape,
  promptBias: Tensor,
  perKey: number
): Tensor => {
  const shape = (length: number) => [groups, 1, 1, responseLength * perKey, length]
  const expand = (x: Tensor, length: number) => graph.node("Expand", [x, graph.sizes(shape(length))], shape(length))
  const prompt = expand(reshape(graph, promptBias, [groups, 1, 1, 1, promptLength]), promptLength)
  const response = expand(causalMask(graph, responseLength, perKey), responseLength)
  return concatenate(graph, prompt, response, 4)
}

/** Adds the outputs `loss`, `kl` and `clipped`; returns the loss. */
const outputLoss = (graph: Graph, logprobs: Tensor): Tensor => {
  const { shape } = logprobs
  const weights = graph.input("weights", shape)
  const sampled = { advantages: graph.input("advantages", shape), logprobs: graph.input("oldLogprobs", shape) }
  const reference = graph.input("referenceLogprobs", shape)
  const clip = { low: graph.input("clipLow", []), high: graph.input("clipHigh", []) }
  const klCoefficient = graph.input("klCoefficient", [])

  const surrogate = clippedSurrogate(graph, logprobs, sampled, clip)
  const kl = klEstimate(graph, logprobs, reference)
  const loss = add(
    graph,
    weightedSum(graph, surrogate.value, graph.node("Neg", [weights], shape)),
    weightedSum(graph, kl, graph.node("Mul", [weights, klCoefficient], shape))
  )
  graph.output("loss", loss)
  graph.output("kl", weightedSum(graph, kl, weights))
  graph.output("clipped", weightedSum(graph, surrogate.clipped, graph.input("counts", shape)))
  return loss
}
