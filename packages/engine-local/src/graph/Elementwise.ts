import { type Graph, sizeOf, type Tensor } from "./Graph.ts"
import { withSize } from "./Layout.ts"

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

/** `x / √(mean(x²) + 1e-5)` over the last axis: RMSNorm (Zhang and Sennrich, 2019) without a gain. */
export const rmsNorm = (graph: Graph, x: Tensor): Tensor => {
  const width = sizeOf(x, -1)
  const gain = graph.constant([width], new Float32Array(width).fill(1))
  const y = graph.tensor(x.shape)
  const inverse = graph.tensor(withSize(x.shape, -1, 1))
  graph.emit("SimplifiedLayerNormalization", [x, gain], [y, inverse], { axis: -1, epsilon: { float: 1e-5 } })
  return graph.record(y, [x], (gradient) => {
    // dx = (dy - y · mean(dy · y)) / rms
    const product = graph.node("Mul", [gradient, y], x.shape)
    const mean = graph.node("ReduceMean", [product, graph.integers([-1])], inverse.shape, { keepdims: 1 })
    const projected = graph.node("Sub", [gradient, graph.node("Mul", [y, mean], x.shape)], x.shape)
    return [graph.node("Mul", [projected, inverse], x.shape)]
  })
}
