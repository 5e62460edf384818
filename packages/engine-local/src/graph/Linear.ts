import { type Graph, sizeOf, type Tensor } from "./Graph.ts"

/** `x @ w`, of `[n, k]` and `[k, m]`. */
export const linear = (graph: Graph, x: Tensor, w: Tensor): Tensor =>
  graph.record(graph.node("Gemm", [x, w], [sizeOf(x, 0), sizeOf(w, 1)]), [x, w], (gradient) => [
    graph.node("Gemm", [gradient, w], x.shape, { transB: 1 }),
    graph.node("Gemm", [x, gradient], w.shape, { transA: 1 })
  ])

/** `x @ wᵀ`, of `[n, k]` and `[m, k]`: an output head that shares its matrix with the embeddings. */
export const linearTransposed = (graph: Graph, x: Tensor, w: Tensor): Tensor =>
  graph.record(graph.node("Gemm", [x, w], [sizeOf(x, 0), sizeOf(w, 0)], { transB: 1 }), [x, w], (gradient) => [
    graph.node("Gemm", [gradient, w], x.shape),
    graph.node("Gemm", [gradient, x], w.shape, { transA: 1 })
  ])
