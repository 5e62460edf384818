import { Array as Arr } from "effect"
import { sizeOf, type Graph, type Tensor } from "../graph/Graph.ts"
import { linearPlus, squaredReluLinear } from "../graph/Linear.ts"
import { rmsNorm } from "../graph/Elementwise.ts"
import { type ModelConfig, parameterLayout } from "./ModelConfig.ts"

interface LayerParameters {
  readonly qkv: Tensor
  readonly out: Tensor
  readonly up: Tensor
  readonly down: Tensor
}

interface Parameters {
  readonly emb: Tensor
  readonly pos: Tensor
  readonly shift: Tensor
  readonly layers: ReadonlyArray<LayerParameters>
  /** The same tensors in the order of `parameterLayout`. */
  readonly all: ReadonlyArray<Tensor>
}

/** Declares every parameter as an input of the program. */
export const declareParameters = (graph: Graph, config: ModelConfig): Parameters => {
  const declared = new Map(parameterLayout(config).map(({ name, shape }) => [name, graph.input(name, shape)]))
  const named = (name: string): Tensor => {
    const tensor = declared.get(name)
    if (tensor === undefined) throw new RangeError(`no parameter is called ${name}`)
    return tensor
  }
  return {
    emb: named("emb"),
    pos: named("pos"),
    shift: named("shift"),
    layers: Array.from({ length: config.layers }, (_, layer) => ({
      qkv: named(`qkv${layer}`),
      out: named(`out${layer}`),
      up: named(`up${layer}`),
      down: named(`down${layer}`)
    })),
    all: [...declared.values()]
  }
}

/** The indices that select a program's input rows: three int64 inputs `[rows]`. */
interface InputIndices {
  readonly tokens: Tensor<"int64">
  readonly previous: Tensor<"int64">
  readonly positions: Tensor<"int64">
}

export const declareIndices = (graph: Graph, rows: number): InputIndices => ({
  tokens: graph.indexInput("tokens", [rows]),
  previous: graph.indexInput("previous", [rows]),
  positions: graph.indexInput("positions", [rows])
})

/** The input of the first layer, and the gathered rows through which gradients leave the graph. */
interface Embedded {
  readonly x: Tensor
  /** `emb[token] + pos[position]`. */
  readonly own: Tensor
  /** `emb[previous token]`. */
  readonly previous: Tensor
}

/**
 * `emb[token] + pos[position] + emb[previous] @ shift`. The token before the first is number 0, the padding token: an
 * ordinary row of the table, so decoding and training agree. Gradients stop at the gathered rows.
 */
export const embed = (graph: Graph, parameters: Parameters, indices: InputIndices): Embedded => {
  const { emb, pos, shift } = parameters
  const shape = [sizeOf(indices.tokens, 0), sizeOf(emb, 1)]
  const gather = (table: Tensor, index: Tensor<"int64">) => graph.node("Gather", [table, index], shape)
  const own = graph.node("Add", [gather(emb, indices.tokens), gather(pos, indices.positions)], shape)
  const previous = gather(emb, indices.previous)
  return { x: linearPlus(graph, previous, shift, own), own, previous }
}

/** The half of a layer after attention: adds the projected heads `[n, width]` and the feed-forward layer to `x`. */
export const feedForward = (graph: Graph, layer: LayerParameters, x: Tensor, heads: Tensor): Tensor => {
  const attended = linearPlus(graph, heads, layer.out, x)
  const hidden = squaredReluLinear(graph, rmsNorm(graph, attended), layer.up)
  return linearPlus(graph, hidden, layer.down, attended)
}

/** Adds the outputs `d_{name}` of all parameters but `pos`, `dx0` and `dprev`. */
export const outputGradients = (graph: Graph, loss: Tensor, parameters: Parameters, embedded: Embedded): void => {
  const trained = parameters.all.filter((tensor) => tensor !== parameters.pos)
  const names = [...trained.map(({ name }) => `d_${name}`), "dx0", "dprev"]
  const gradients = graph.gradients(loss, [...trained, embedded.own, embedded.previous])
  for (const [name, gradient] of Arr.zip(names, gradients)) graph.output(name, gradient)
}
