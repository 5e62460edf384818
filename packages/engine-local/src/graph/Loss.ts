import { type Graph, sizeOf, type Tensor } from "./Graph.ts"

/** Log-probability of one target per row under the softmax of `logits`: `[n, v]` and `[n, 1]` give `[n, 1]`. */
export const logProbability = (graph: Graph, logits: Tensor, targets: Tensor<"int64">): Tensor => {
  const all = graph.node("LogSoftmax", [logits], logits.shape, { axis: -1 })
  const chosen = graph.node("GatherElements", [all, targets], [sizeOf(logits, 0), 1], { axis: 1 })
  return graph.record(chosen, [logits], (gradient) => {
    // (one-hot(target) - softmax) · gradient; the softmax again, since e^x is the slower operator
    const softmax = graph.node("Softmax", [logits], logits.shape, { axis: -1 })
    const spread = graph.node("Mul", [softmax, graph.node("Neg", [gradient], gradient.shape)], logits.shape)
    return [graph.node("ScatterElements", [spread, targets, gradient], logits.shape, { axis: 1, reduction: "add" })]
  })
}

interface ClippedSurrogate {
  /** `min(ρA, clip(ρ, low, high)A)` per token. */
  readonly value: Tensor
  /** 1 where the clipped term is the smaller one, so that no gradient passes; 0 elsewhere. */
  readonly clipped: Tensor
}

/**
 * The clipped surrogate objective of PPO (Schulman et al., 2017, eq. 7) per token, with ρ = e^(logprob - old logprob)
 * and advantage A. `low` and `high` are scalars. Differentiable in `logprobs`.
 */
export const clippedSurrogate = (
  graph: Graph,
  logprobs: Tensor,
  sampled: { readonly logprobs: Tensor; readonly advantages: Tensor },
  clip: { readonly low: Tensor; readonly high: Tensor }
): ClippedSurrogate => {
  const { shape } = logprobs
  const ratio = graph.node("Exp", [graph.node("Sub", [logprobs, sampled.logprobs], shape)], shape)
  const unclippedTerm = graph.node("Mul", [ratio, sampled.advantages], shape)
  const clippedRatio = graph.node("Clip", [ratio, clip.low, clip.high], shape)
  const clippedTerm = graph.node("Mul", [clippedRatio, sampled.advantages], shape)
  const clipped = toFloat(graph, graph.typedNode("bool", "Less", [clippedTerm, unclippedTerm], shape))
  const value = graph.node("Min", [unclippedTerm, clippedTerm], shape)
  graph.record(value, [logprobs], (gradient) => {
    // dρ/dlogprob = ρ, so the unclipped term is its own derivative; the clipped one is flat where it is the smaller.
    const open = graph.node("Sub", [graph.scalar(1), clipped], shape)
    return [graph.node("Mul", [gradient, graph.node("Mul", [unclippedTerm, open], shape)], shape)]
  })
  return { value, clipped }
}

/** The k3 estimate of KL(policy ‖ reference) per token (Schulman, 2020): e^d - d - 1 with d = reference - policy log-probability. */
export const klEstimate = (graph: Graph, logprobs: Tensor, reference: Tensor): Tensor => {
  const { shape } = logprobs
  const difference = graph.node("Sub", [reference, logprobs], shape)
  const ratio = graph.node("Exp", [difference], shape)
  const excess = graph.node("Sub", [ratio, difference], shape)
  const one = graph.scalar(1)
  return graph.record(graph.node("Sub", [excess, one], shape), [logprobs], (gradient) => [
    graph.node("Mul", [gradient, graph.node("Sub", [one, ratio], shape)], shape)
  ])
}

const toFloat = (graph: Graph, condition: Tensor<"bool">): Tensor =>
  graph.node("Cast", [condition], condition.shape, { to: 1 })
