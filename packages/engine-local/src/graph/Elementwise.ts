import type { Graph, Tensor } from "./Graph.ts"

/** `a + b`, of equal shapes. */
export const add = (graph: Graph, a: Tensor, b: Tensor): Tensor =>
  graph.record(graph.node("Add", [a, b], a.shape), [a, b], (gradient) => [gradient, gradient])

/** `Σ weights · x`, a scalar; `weights` is a constant of `x`'s shape. */
export const weightedSum = (graph: Graph, x: Tensor, weights: Tensor): Tensor => {
  const weighted = graph.node("Mul", [x, weights], x.shape)
  return graph.record(graph.node("ReduceSum", [weighted], [], { keepdims: 0 }), [x], (gradient) => [
    graph.node("Mul", [weights, gradient], x.shape)
  ])
}
