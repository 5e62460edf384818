import { type Graph, type Shape, sizeOf, type Tensor } from "./Graph.ts"

/** The same values in the same order under another shape, of which one size may be unknown. */
export const reshape = (graph: Graph, x: Tensor, shape: Shape): Tensor => {
  // A reshape of a reshape is one of what that was made from.
  const origin = reshaped.get(x) ?? x
  if (origin.shape.join() === shape.join()) return origin
  const result = graph.node("Reshape", [origin, graph.sizes(shape)], shape)
  reshaped.set(result, origin)
  return graph.record(result, [origin], (gradient) => [
    graph.node("Reshape", [gradient, graph.sizes(origin.shape)], origin.shape)
  ])
}

const reshaped = new WeakMap<Tensor, Tensor>()

/** Reorders axes: axis `i` of the result is axis `axes[i]` of `x`. */
export const transpose = (graph: Graph, x: Tensor, axes: ReadonlyArray<number>): Tensor => {
  const shape = axes.map((axis) => sizeOf(x, axis))
  const moved = axes.filter((axis) => sizeOf(x, axis) !== 1)
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

/** `count` copies of `x` along a new axis. */
export const repeat = (graph: Graph, x: Tensor, axis: number, count: number): Tensor => {
  const single = reshape(graph, x, x.shape.toSpliced(axis, 0, 1))
  const shape = withSize(single.shape, axis, count)
  return graph.record(graph.node("Expand", [single, graph.sizes(shape)], shape), [single], (gradient) => [
    graph.node("ReduceSum", [gradient, graph.integers([axis])], single.shape, { keepdims: 1 })
  ])
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
  graph.emit("Split", [x, graph.sizes(parts.map((part) => sizeOf(part, axis)))], parts, { axis })
