import type { Graph, Tensor } from "../../src/graph/Graph.ts"

/** `x²`: something to differentiate that is not linear. */
export const square = (graph: Graph, x: Tensor): Tensor =>
  graph.record(graph.node("Mul", [x, x], x.shape), [x], (gradient) => [
    graph.node("Mul", [graph.node("Mul", [gradient, x], x.shape), graph.scalar(2)], x.shape)
  ])
