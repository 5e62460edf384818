import { type Graph, type Shape, sizeOf, type Tensor } from "./Graph.ts"
import { repeat, reshape, withSize } from "./Layout.ts"

/** What is added to a score that must not count: so low that the softmax gives exactly 0. */
export const maskedScore = -1000

/** Float32 `[length · heads, length]`, over query heads and key positions: `maskedScore` at the positions after its own, else 0. */
export const causalMask = (graph: Graph, length: number, heads: number): Tensor => {
  const masked = graph.filled([length, length], maskedScore)
  const above = graph.node("Trilu", [masked, graph.integers([1])], [length, length], { upper: 1 })
  return reshape(graph, repeat(graph, above, 1, heads), [length * heads, length])
}

/** Keys and values of a span of positions, and the mask added to its scores. */
interface Span {
  readonly keys: Tensor
  readonly values: Tensor
  readonly mask: Tensor
}

/**
 * Attention `softmax(scale · q kᵀ + mask) v` of a batch of any shape `…`: queries `[…, n, d]`, keys and values `[…, m, d]`,
 * mask broadcast to `[…, n, m]`, fastest where it is broadcast along the batch alone; the result is shaped like the
 * queries. The backward pass is FlashAttention's (Dao et al., 2022, appendix B.2).
 */
export const attention = (graph: Graph, queries: Tensor, { keys, values, mask }: Span, scale: number): Tensor => {
  const shape = withSize(queries.shape, -1, sizeOf(keys, -2))
  // Scaled first, as in decoding: scores are large, and rounding them otherwise would set the two apart.
  const scaled = graph.node("Mul", [queries, graph.scalar(scale)], queries.shape)
  const scores = graph.node("Add", [matmul(graph, scaled, keys, shape, { transB: 1 }), mask], shape)
  const weights = graph.node("Softmax", [scores], shape, { axis: -1 })
  const output = matmul(graph, weights, values, queries.shape)
  return graph.record(output, [queries, keys, values], (gradient) => {
    const dScores = scoreGradient(graph, withDrift(graph, gradient, output), values, weights)
    return [
      matmul(graph, dScores, keys, queries.shape, { scale }),
      transposedProduct(graph, dScores, scaled),
      transposedProduct(graph, weights, gradient)
    ]
  })
}

interface MatMulOptions {
  readonly transA?: 0 | 1
  readonly transB?: 0 | 1
  readonly scale?: number
}

const matmul = (
  graph: Graph,
  a: Tensor,
  b: Tensor,
  shape: Shape,
  { transA = 0, transB = 0, scale = 1 }: MatMulOptions = {}
): Tensor => graph.node("com.microsoft.FusedMatMul", [a, b], shape, { transA, transB, alpha: { float: scale } })

/** `scale · aᵀ b`, computed as `(bᵀ a)ᵀ`: the kernel likes the narrow matrix on the left. */
const transposedProduct = (graph: Graph, a: Tensor, b: Tensor, scale = 1): Tensor => {
  const batch = a.shape.slice(0, -2)
  const [wide, narrow] = [sizeOf(a, -1), sizeOf(b, -1)]
  const product = matmul(graph, b, a, [...batch, narrow, wide], { transA: 1, scale })
  const axes = [...batch.keys(), batch.length + 1, batch.length]
  return graph.node("Transpose", [product], [...batch, wide, narrow], { perm: axes })
}

/** The gradient of an attention's output with one more column: minus its row sums over `gradient · output`. */
const withDrift = (graph: Graph, gradient: Tensor, output: Tensor): Tensor => {
  const column = withSize(gradient.shape, -1, 1)
  const product = graph.node("Mul", [gradient, output], gradient.shape)
  const drift = graph.node("ReduceSum", [product, graph.integers([-1])], column, { keepdims: 1 })
  return appendColumn(graph, gradient, graph.node("Neg", [drift], column))
}

/**
 * The gradient of the scores, `W · (dO vᵀ - drift)`. The drift comes from `withDrift`, and a column of ones beside the
 * values subtracts it within the matrix product, which saves a pass over the scores.
 */
const scoreGradient = (graph: Graph, drifting: Tensor, values: Tensor, weights: Tensor): Tensor => {
  const ones = graph.filled(withSize(values.shape, -1, 1), 1)
  const difference = matmul(graph, drifting, appendColumn(graph, values, ones), weights.shape, { transB: 1 })
  return graph.node("Mul", [difference, weights], weights.shape)
}

const appendColumn = (graph: Graph, x: Tensor, column: Tensor): Tensor =>
  graph.node("Concat", [x, column], withSize(x.shape, -1, sizeOf(x, -1) + 1), { axis: -1 })
