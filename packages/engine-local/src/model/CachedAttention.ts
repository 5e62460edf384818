import { maskedScore } from "../graph/Attention.ts"
import { type Graph, sizeOf, type Tensor, unknown } from "../graph/Graph.ts"
import { reshape, splitInThree, transpose } from "../graph/Layout.ts"
import { headWidth, keyValueWidth, type ModelConfig } from "./ModelConfig.ts"

/** How many sequences take tokens, and for how many earlier tokens the cache has slots; both may be `unknown`. */
export interface CacheSize {
  readonly rows: number
  readonly context: number
}

/** What earlier tokens left behind in one layer, and which slots count. */
interface CachedLayer {
  readonly mask: Tensor
  readonly keys: Tensor
  readonly values: Tensor
}

/**
 * Declares the inputs of a cache with `Tm` = `context` slots, float32:
 *
 * - `mask` `[rows, 1, 1, 1 + Tm]`: first 0, for the token itself; then 0 on slots in use, `maskedScore` on the others;
 * - per layer `l`, `keys{l}` `[rows, KH, hd, Tm]` (transposed): position `t` is in slot `t`;
 * - per layer `l`, `values{l}` `[rows, KH, 1 + Tm, hd]`: first zeros; then position `t` in slot `1 + t`.
 *
 * Slots not in use may hold anything that gives scores far below `-maskedScore`, such as keys and values of other tokens.
 */
export const declareCache = (graph: Graph, config: ModelConfig, { rows, context }: CacheSize): Array<CachedLayer> => {
  const hd = headWidth(config)
  const slots = context === unknown ? unknown : 1 + context
  const mask = graph.input("mask", [rows, 1, 1, slots])
  return Array.from({ length: config.layers }, (_, layer) => ({
    mask,
    keys: graph.input(`keys${layer}`, [rows, config.keyValueHeads, hd, context]),
    values: graph.input(`values${layer}`, [rows, config.keyValueHeads, slots, hd])
  }))
}

/**
 * Attention of `tokens` new tokens per row, given by the rows of `qkv`, to the cache, to the new ones before them and to
 * themselves. Returns the heads `[n, width]`, and the keys and the values of the new tokens `[n, KH · hd]`.
 *
 * A token's score of itself comes first, then those of earlier tokens in their order, in which values are summed too. So
 * the result is the same bits whether earlier tokens are in the cache or are new themselves, given that new ones start
 * at a position that is a multiple of 16, the width of the widest vector registers.
 */
export const cachedAttention = (
  graph: Graph,
  config: ModelConfig,
  qkv: Tensor,
  cache: CachedLayer,
  tokens: number
): { readonly heads: Tensor; readonly keys: Tensor; readonly values: Tensor } => {
  const { width, keyValueHeads, heads } = config
  const hd = headWidth(config)
  const n = sizeOf(qkv, 0)
  /** `[n, KH, R, d]` as `[rows, KH, tokens · R, d]`, and back. */
  const byRow = (x: Tensor): Tensor => {
    const [r, d] = [sizeOf(x, 2), sizeOf(x, 3)]
    const split = reshape(graph, x, [sizeOf(cache.keys, 0), tokens, keyValueHeads, r, d])
    return reshape(graph, transpose(graph, split, [0, 2, 1, 3, 4]), [sizeOf(split, 0), keyValueHeads, tokens * r, d])
  }
  const byToken = (x: Tensor): Tensor => {
    const [r, d] = [sizeOf(x, 2) / tokens, sizeOf(x, 3)]
    const split = reshape(graph, x, [sizeOf(x, 0), keyValueHeads, tokens, r, d])
    return reshape(graph, transpose(graph, split, [0, 2, 1, 3, 4]), [n, keyValueHeads, r, d])
  }
  const join = (axis: number, [first, second]: readonly [Tensor, Tensor]): Tensor =>
    graph.node("Concat", [first, second], first.shape.with(axis, unknown), { axis })

  const [q, keys, values] = splitInThree(graph, qkv, 1, [width, keyValueWidth(config), keyValueWidth(config)])
  const scaled = graph.node("Mul", [q, graph.scalar(hd ** -0.5)], q.shape)
  const ownQueries = reshape(graph, scaled, [n, keyValueHeads, heads / keyValueHeads, hd])
  const ownKeys = reshape(graph, keys, [n, keyValueHeads, 1, hd])
  const ownValues = reshape(graph, values, [n, keyValueHeads, 1, hd])
  const queries = byRow(ownQueries)

  /** Scores of the new tokens; those from the token itself on do not count. */
  const scoresOfNew = (): Tensor => {
    const split = reshape(graph, keys, [sizeOf(queries, 0), tokens, keyValueHeads, hd])
    const transposed = transpose(graph, split, [0, 2, 3, 1])
    const all = graph.node("MatMul", [queries, transposed], queries.shape.with(3, tokens))
    return graph.node("Add", [all, strictlyBefore(graph, tokens, heads / keyValueHeads)], all.shape)
  }

  const products = graph.node("Mul", [ownQueries, ownKeys], ownQueries.shape)
  const own = graph.node("ReduceSum", [products, graph.integers([-1])], products.shape.with(3, 1), { keepdims: 1 })
  const cached = graph.node("MatMul", [queries, cache.keys], queries.shape.with(3, sizeOf(cache.keys, 3)))
  const known = join(3, [byRow(own), cached])
  const masked = graph.node("Add", [known, cache.mask], known.shape)
  const scores = tokens === 1 ? masked : join(3, [masked, scoresOfNew()])
  const weights = graph.node("Softmax", [scores], scores.shape, { axis: -1 })
  const slots = tokens === 1 ? cache.values : join(2, [cache.values, byRow(ownValues)])
  const attended = byToken(graph.node("MatMul", [weights, slots], queries.shape))
  const ownWeights = byToken(firstColumn(graph, weights))
  const ownAttended = graph.node("Mul", [ownWeights, ownValues], attended.shape)
  const both = graph.node("Add", [attended, ownAttended], attended.shape)
  return { heads: reshape(graph, both, [n, width]), keys, values }
}

/** `[tokens · R, tokens]`: lets a token, which has `R` query heads in a row, look at those before it. */
const strictlyBefore = (graph: Graph, tokens: number, queriesPerToken: number): Tensor => {
  const mask = new Float32Array(tokens * queriesPerToken * tokens).fill(maskedScore)
  for (let row = 0; row < tokens * queriesPerToken; row++) {
    mask.fill(0, row * tokens, row * tokens + Math.floor(row / queriesPerToken))
  }
  return graph.constant([tokens * queriesPerToken, tokens], mask)
}

const firstColumn = (graph: Graph, x: Tensor): Tensor => {
  const [start, end, axis] = [graph.integers([0]), graph.integers([1]), graph.integers([3])]
  return graph.node("Slice", [x, start, end, axis], x.shape.with(3, 1))
}
