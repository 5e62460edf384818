import { type Graph, sizeOf, type Tensor } from "./Graph.ts"

/** `x @ w`, of `[n, k]` and `[k, m]`. */
export const linear = (graph: Graph, x: Tensor, w: Tensor): Tensor =>
  graph.record(graph.node("Gemm", [x, w], [sizeOf(x, 0), sizeOf(w, 1)]), [x, w], (gradient) => [
    graph.node("Gemm", [gradient, w], x.shape, { transB: 1 }),
    graph.node("Gemm", [x, gradient], w.shape, { transA: 1 })
  ])

/** `x @ w + residual`, the residual shaped like the product. */
export const linearPlus = (graph: Graph, x: Tensor, w: Tensor, residual: Tensor): Tensor =>
  graph.record(graph.node("Gemm", [x, w, residual], residual.shape), [x, w, residual], (gradient) => [
    graph.node("Gemm", [gradient, w], x.shape, { transB: 1 }),
    graph.node("Gemm", [x, gradient], w.shape, { transA: 1 }),
    gradient
  ])

/** `max(x @ w, 0)²`, with the ReLU² of So et al. (2021). */
export const squaredReluLinear = (graph: Graph, x: Tensor, w: Tensor): Tensor => {
  const shape = [sizeOf(x, 0), sizeOf(w, 1)]
  const relu = graph.node("com.microsoft.FusedGemm", [x, w], shape, { activation: "Relu" })
  return graph.record(graph.node("Mul", [relu, relu], shape), [x, w], (gradient) => {
    // The 2 of the derivative 2 · relu is left to the products.
    const half = graph.node("Mul", [gradient, relu], shape)
    const alpha = { float: 2 }
    return [
      graph.node("Gemm", [half, w], x.shape, { transB: 1, alpha }),
      graph.node("Gemm", [x, half], w.shape, { transA: 1, alpha })
    ]
  })
}

/** `x @ wᵀ`, of `[n, k]` and `[m, k]`: an output head that shares its matrix with the embeddings. */
export const linearTransposed = (graph: Graph, x: Tensor, w: Tensor): Tensor =>
  graph.record(graph.node("Gemm", [x, w], [sizeOf(x, 0), sizeOf(w, 0)], { transB: 1 }), [x, w], (gradient) => [
    graph.node("Gemm", [gradient, w], x.shape),
    graph.node("Gemm", [gradient, x], w.shape, { transA: 1 })
  ])
