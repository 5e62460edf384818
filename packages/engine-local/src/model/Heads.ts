import { type Graph, type Shape, type Tensor, unknown } from "../graph/Graph.ts"
import { reshape, transpose } from "../graph/Layout.ts"
import { headWidth, type ModelConfig } from "./ModelConfig.ts"

/**
 * Keys or values by head: rows `[B · … · T, keyValueWidth]`, where `outer` = `[B, …, T]`, become
 * `[B, keyValueHeads, …, T, headWidth]`.
 */
export const splitKeyValueHeads = (graph: Graph, rows: Tensor, outer: Shape, config: ModelConfig): Tensor => {
  const split = reshape(graph, rows, [...outer, config.keyValueHeads, headWidth(config)])
  return transpose(graph, split, [0, outer.length, ...inner(outer), outer.length + 1])
}

/**
 * Queries by head: rows `[B · … · T, width]` become `[B, keyValueHeads, … · T · R, headWidth]`, where `R` query heads
 * share a key-value head. With one key-value head no data moves.
 */
export const splitQueryHeads = (graph: Graph, rows: Tensor, outer: Shape, config: ModelConfig): Tensor => {
  const { keyValueHeads } = config
  const shared = config.heads / keyValueHeads
  const split = reshape(graph, rows, [...outer, keyValueHeads, shared, headWidth(config)])
  const byHead = transpose(graph, split, [0, outer.length, ...inner(outer), outer.length + 1, outer.length + 2])
  const [batch = 1, ...rest] = outer
  return reshape(graph, byHead, [batch, keyValueHeads, product(rest) * shared, headWidth(config)])
}

/** The inverse of `splitQueryHeads`. */
export const joinQueryHeads = (graph: Graph, heads: Tensor, outer: Shape, config: ModelConfig): Tensor => {
  const { keyValueHeads } = config
  const [batch = 1, ...rest] = outer
  const split = reshape(graph, heads, [batch, keyValueHeads, ...rest, config.heads / keyValueHeads, headWidth(config)])
  const axes = [0, ...inner(outer).map((axis) => axis + 1), 1, outer.length + 1, outer.length + 2]
  return reshape(graph, transpose(graph, split, axes), [product(outer), config.width])
}

/** The axes of `outer` but the first. */
const inner = (outer: Shape): Shape => [...outer.keys()].slice(1)

/** Of sizes one of which may be unknown. */
const product = (shape: Shape): number =>
  shape.includes(unknown) ? unknown : shape.reduce((total, size) => total * size, 1)
