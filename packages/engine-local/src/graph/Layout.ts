import { type Graph, type Shape, sizeOf, type Tensor } from "./Graph.ts"

/** The same values in the same order under another shape. */
export const reshape = (graph: Graph, x: Tensor, shape: Shape): Tensor =>
  graph.record(graph.node("Reshape", [x, graph.integers(shape)], shape), [x], (gradient) => [
    graph.node("Reshape", [gradient, graph.integers(x.shape)], x.shape)
  ])

/** Reorders axes: axis `i` of the result is axis `axes[i]` of `x`. */
export const transpose = (graph: Graph, x: Tensor, axes: ReadonlyArray<number>): Tensor => {
  const shape = axes.map((axis) => sizeOf(x, axis))
  const moved = axes.filter((axis) => sizeOf(x, axis) > 1)
  // Moving axes of size 1 moves no data.
  if (moved.every((axis, index) => index === 0 || axis > (moved[index - 1] ?? 0))) return reshape(graph, x, shape)
  const inverse = axes.map((_, axis) => axes.indexOf(axis))
  return graph.record(graph.node("Transpose", [x], shape, { perm: axes }), [x], (gradient) => [
    graph.node("Transpose", [gradient], x.shape, { perm: inverse })
  ])
}

/** Cuts `x` along `axis` after `size` entries. */
export const splitInTwo = (graph: Graph, x: Tensor, axis: number, size: number): readonly [Tensor, Tensor] => {
  const first = graph.tensor(withSize(x.shape, axis, size))
  const second = graph.tensor(withSize(x.shape, axis, sizeOf(x, axis) - size))
  split(graph, x, axis, [first, second])
  return [first, second]
}

/** Cuts `x` along `axis` into parts of the three sizes. */
export const splitInThree = (
  graph: Graph,
  x: Tensor,
  axis: number,
  sizes: readonly [number, number, number]
): readonly [Tensor, Tensor, Tensor] => {
  const first = graph.tensor(withSize(x.shape, axis, sizes[0]))
  const second = graph.tensor(withSize(x.shape, axis, sizes[1]))
  const third = graph.tensor(withSize(x.shape, axis, sizes[2]))
  split(graph, x, axis, [first, second, third])
  return [first, second, third]
}

/** Joins `a` and `b` along `axis`. */
export const concatenate = (graph: Graph, a: Tensor, b: Tensor, axis: number): Tensor => {
  const shape = withSize(a.shape, axis, sizeOf(a, axis) + sizeOf(b, axis))
  return graph.record(graph.node("Concat", [a, b], shape, { axis }), [a, b], (gradient) => {
    const parts = [graph.tensor(a.shape), graph.tensor(b.shape)]
    emitSplit(graph, gradient, axis, parts)
    return parts
  })
}

/** `shape` with another size along `axis`. */
export const withSize = (shape: Shape, axis: number, size: number): Shape => shape.with(axis, size)

const split = (graph: Graph, x: Tensor, axis: number, parts: ReadonlyArray<Tensor>): void => {
  emitSplit(graph, x, axis, parts)
  graph.recordAll(parts, [x], (gradients) => {
    const joined = parts.map((part, index) => gradients[index] ?? graph.filled(part.shape, 0))
    return [graph.node("Concat", joined, x.shape, { axis })]
  })
}

const emitSplit = (graph: Graph, x: Tensor, axis: number, parts: ReadonlyArray<Tensor>): void =>
  graph.emit("Split", [x, graph.integers(parts.map((part) => sizeOf(part, axis)))], parts, { axis })
