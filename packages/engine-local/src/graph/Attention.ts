import { type Graph, type Shape, sizeOf, type Tensor } from "./Graph.ts"
import { withSize } from "./Layout.ts"

/**
 * What is added to a score that must not count. Low enough that e^-50 vanishes in float32 next to any real score, high
 * enough to keep the softmax free of denormals.
 */
export const maskedScore = -50

/**
 * Float32 `[length, 1, length]`, over position, query head and key position: 0 where a position may look, `maskedScore`
 * at the positions after it.
 */
export const causalMask = (graph: Graph, length: number): Tensor => {
  const mask = new Float32Array(length * length)
  for (let row = 0; row < length; row++) mask.fill(maskedScore, row * length + row + 1, (row + 1) * length)
  return graph.constant([length, 1, length], mask)
}

/** Keys and values of one span of positions, and the mask added to its scores. */
export interface Span {
  readonly keys: Tensor
  readonly values: Tensor
  readonly mask: Tensor
}

/**
 * Grouped-query attention `softmax(scale · q kᵀ + mask) v` of `B` batches with `H` key-value heads, each serving `R` query
 * heads. Shapes: queries `[B, H, T · R, d]`, keys and values `[B, H, T, d]`, mask broadcast to `[B, H, T, R, T]`; the
 * result is shaped like the queries. The backward pass is FlashAttention's (Dao et al., 2022, appendix B.2).
 */
export const attention = (graph: Graph, queries: Tensor, { keys, values, mask }: Span, scale: number): Tensor => {
  const length = sizeOf(keys, 2)
  const flat = withSize(queries.shape, 3, length)
  const perHead = [sizeOf(keys, 0), sizeOf(keys, 1), length, sizeOf(queries, 2) / length, length]
  const scores = view(graph, matmul(graph, queries, keys, flat, { transB: 1, scale }), perHead)
  const masked = view(graph, graph.node("Add", [scores, mask], perHead), flat)
  const weights = graph.node("Softmax", [masked], flat, { axis: -1 })
  const output = matmul(graph, weights, values, queries.shape)
  return graph.record(output, [queries, keys, values], (gradient) => {
    const dScores = scoreGradient(graph, withDrift(graph, gradient, output), values, weights)
    return [
      matmul(graph, dScores, keys, queries.shape, { scale }),
      transposedProduct(graph, dScores, queries, scale),
      transposedProduct(graph, weights, gradient)
    ]
  })
}

/**
 * Attention of `K` completions per batch to a prefix they share and to themselves. Shapes: queries
 * `[B, H, K · T · R, d]`; prefix keys and values `[B, H, P, d]`, mask broadcast to `[B, H, K · T · R, P]`; own keys and
 * values `[B, H, K, T, d]`, mask broadcast to `[B, H, K, T, R, T]`. The result is shaped like the queries, and equal to
 * `attention` over each completion behind its own copy of the prefix.
 */
export const prefixAttention = (graph: Graph, queries: Tensor, prefix: Span, own: Span, scale: number): Tensor => {
  const [completions, length, prefixLength] = [sizeOf(own.keys, 2), sizeOf(own.keys, 3), sizeOf(prefix.keys, 2)]
  const [batch, heads, rows] = [sizeOf(queries, 0), sizeOf(queries, 1), sizeOf(queries, 2) / completions]
  const together = (last: number): Shape => [batch, heads, completions * rows, last]
  const apart = (last: number): Shape => [batch, heads, completions, rows, last]
  const perHead = [batch, heads, completions, length, rows / length, length]

  const ownQueries = view(graph, queries, apart(sizeOf(queries, 3)))
  const prefixScores = matmul(graph, queries, prefix.keys, together(prefixLength), { transB: 1, scale })
  const ownScores = view(graph, matmul(graph, ownQueries, own.keys, apart(length), { transB: 1, scale }), perHead)
  const masked = [
    graph.node("Add", [prefixScores, prefix.mask], together(prefixLength)),
    view(graph, graph.node("Add", [ownScores, own.mask], perHead), together(length))
  ]
  const scores = graph.node("Concat", masked, together(prefixLength + length), { axis: -1 })
  const weights = graph.node("Softmax", [scores], scores.shape, { axis: -1 })
  const prefixWeights = graph.tensor(together(prefixLength))
  const ownColumns = graph.tensor(together(length))
  graph.emit("Split", [weights, graph.integers([prefixLength, length])], [prefixWeights, ownColumns], { axis: -1 })
  const ownWeights = view(graph, ownColumns, apart(length))
  const fromPrefix = matmul(graph, prefixWeights, prefix.values, queries.shape)
  const fromOwn = view(graph, matmul(graph, ownWeights, own.values, ownQueries.shape), queries.shape)
  const output = graph.node("Add", [fromPrefix, fromOwn], queries.shape)

  return graph.record(output, [queries, prefix.keys, prefix.values, own.keys, own.values], (gradient) => {
    const drifting = withDrift(graph, gradient, output)
    const ownDrifting = view(graph, drifting, apart(sizeOf(drifting, 3)))
    const dPrefix = scoreGradient(graph, drifting, prefix.values, prefixWeights)
    const dOwn = scoreGradient(graph, ownDrifting, own.values, ownWeights)
    const dQueries = [
      matmul(graph, dPrefix, prefix.keys, queries.shape, { scale }),
      view(graph, matmul(graph, dOwn, own.keys, ownQueries.shape, { scale }), queries.shape)
    ]
    return [
      graph.node("Add", dQueries, queries.shape),
      transposedProduct(graph, dPrefix, queries, scale),
      transposedProduct(graph, prefixWeights, gradient),
      transposedProduct(graph, dOwn, ownQueries, scale),
      transposedProduct(graph, ownWeights, view(graph, gradient, ownQueries.shape))
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

/** A reshape inside an operation that records its own backward pass. */
const view = (graph: Graph, x: Tensor, shape: Shape): Tensor => graph.node("Reshape", [x, graph.integers(shape)], shape)

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
