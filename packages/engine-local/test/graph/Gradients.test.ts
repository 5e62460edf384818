import { assert, describe, it } from "@effect/vitest"
import { attention, causalMask, maskedScore } from "../../src/graph/Attention.ts"
import { add, rmsNorm, weightedSum } from "../../src/graph/Elementwise.ts"
import { Graph, type Shape, type Tensor } from "../../src/graph/Graph.ts"
import { concatenate, repeat, reshape, splitInThree, splitInTwo, transpose } from "../../src/graph/Layout.ts"
import { linear, linearPlus, linearTransposed, squaredReluLinear } from "../../src/graph/Linear.ts"
import { clippedSurrogate, klEstimate, logProbability } from "../../src/graph/Loss.ts"
import { Effect, Schema } from "effect"
import { square } from "./square.ts"
import { at, dot, gradientError, integers, normals, open } from "./Sessions.ts"

type Sizes = readonly [number, number, number, number]

interface Operation {
  /** Shapes of the inputs to differentiate, from four small sizes. */
  readonly inputs: (sizes: Sizes) => ReadonlyArray<Shape>
  readonly apply: (graph: Graph, inputs: ReadonlyArray<Tensor>, seed: string) => Tensor
}

const operations: Readonly<Record<string, Operation>> = {
  add: {
    inputs: ([n, m]) => [
      [n, m],
      [n, m]
    ],
    apply: (graph, [a, b]) => add(graph, need(a), need(b))
  },
  "add of a tensor to itself": { inputs: ([n, m]) => [[n, m]], apply: (graph, [a]) => add(graph, need(a), need(a)) },
  weightedSum: {
    inputs: ([n, m]) => [[n, m]],
    apply: (graph, [x], seed) => weightedSum(graph, need(x), constant(graph, need(x).shape, seed))
  },
  linear: {
    inputs: ([n, k, m]) => [
      [n, k],
      [k, m]
    ],
    apply: (graph, [x, w]) => linear(graph, need(x), need(w))
  },
  linearPlus: {
    inputs: ([n, k, m]) => [
      [n, k],
      [k, m],
      [n, m]
    ],
    apply: (graph, [x, w, residual]) => linearPlus(graph, need(x), need(w), need(residual))
  },
  squaredReluLinear: {
    inputs: ([n, k, m]) => [
      [n, k],
      [k, m]
    ],
    apply: (graph, [x, w]) => squaredReluLinear(graph, need(x), need(w))
  },
  linearTransposed: {
    inputs: ([n, k, m]) => [
      [n, k],
      [m, k]
    ],
    apply: (graph, [x, w]) => linearTransposed(graph, need(x), need(w))
  },
  reshape: {
    inputs: ([n, k, m]) => [[n, k, m]],
    apply: (graph, [x]) => reshape(graph, need(x), [size(need(x).shape), 1])
  },
  transpose: {
    inputs: ([n, k, m, l]) => [[n, k, m, l]],
    apply: (graph, [x]) => transpose(graph, need(x), [2, 0, 3, 1])
  },
  "transpose that moves an axis of size 1": {
    inputs: ([n, k, m]) => [[n, k, 1, m]],
    apply: (graph, [x]) => transpose(graph, need(x), [0, 2, 1, 3])
  },
  splitInTwo: {
    inputs: ([n, k, m]) => [[n, k + m]],
    apply: (graph, [x]) => {
      const [first, second] = splitInTwo(graph, need(x), 1, 1)
      return concatenate(graph, square(graph, second), first, 1)
    }
  },
  "splitInTwo with one part used": {
    inputs: ([n, k, m]) => [[k + m, n]],
    apply: (graph, [x]) => {
      const [, second] = splitInTwo(graph, need(x), 0, 1)
      return square(graph, second)
    }
  },
  splitInThree: {
    inputs: ([n, k, m, l]) => [[n, k + m + l]],
    apply: (graph, [x]) => {
      const total = need(x).shape[1] ?? 0
      const [first, second, third] = splitInThree(graph, need(x), 1, [1, total - 2, 1])
      return concatenate(graph, third, concatenate(graph, square(graph, second), first, 1), 1)
    }
  },
  concatenate: {
    inputs: ([n, k, m]) => [
      [n, k],
      [n, m]
    ],
    apply: (graph, [a, b]) => concatenate(graph, need(a), need(b), 1)
  },
  rmsNorm: { inputs: ([n, m]) => [[n, m + 7]], apply: (graph, [x]) => rmsNorm(graph, need(x)) },
  repeat: {
    inputs: ([n, k, m]) => [[n, k, m]],
    apply: (graph, [x]) => square(graph, reshape(graph, repeat(graph, need(x), 1, 3), [size(need(x).shape), 3]))
  },
  attention: {
    inputs: ([b, h, t, d]) => [
      [b, h, t * 2, d],
      [b, h, t, d],
      [b, h, t, d]
    ],
    apply: (graph, [q, k, v]) => {
      const mask = causalMask(graph, need(k).shape[2] ?? 0, 2)
      return attention(graph, need(q), { keys: need(k), values: need(v), mask }, 0.7)
    }
  },
  "attention to masked positions": {
    inputs: ([b, t, d]) => [
      [b, 2, t, d],
      [b, 2, 3, d],
      [b, 2, 3, d]
    ],
    apply: (graph, [q, k, v]) => {
      const mask = graph.constant([1, 1, 1, 3], Float32Array.of(0, 0, maskedScore))
      return attention(graph, need(q), { keys: need(k), values: need(v), mask }, 0.7)
    }
  },
  logProbability: {
    inputs: ([n, k, m]) => [[n, k + m]],
    apply: (graph, [logits], seed) => {
      const [n = 0, v = 0] = need(logits).shape
      const targets = graph.integers(integers(seed, n, v))
      return logProbability(
        graph,
        need(logits),
        graph.typedNode("int64", "Reshape", [targets, graph.integers([n, 1])], [n, 1])
      )
    }
  },
  clippedSurrogate: {
    inputs: ([n, m]) => [[n * m, 1]],
    apply: (graph, [logprobs], seed) => {
      const { shape } = need(logprobs)
      // The old log-probabilities lie clear of the clip ratios, where the objective has a kink.
      const ratios = integers(seed, size(shape), 4).map((index) => [0.5, 0.9, 1.1, 1.6][index] ?? 1)
      const old = normals(`${seed} x0`, size(shape)).map((value, index) => value - Math.log(ratios[index] ?? 1))
      const clip = { low: graph.scalar(0.8), high: graph.scalar(1.2) }
      const sampled = { logprobs: graph.constant(shape, old), advantages: constant(graph, shape, `${seed} advantages`) }
      return clippedSurrogate(graph, need(logprobs), sampled, clip).value
    }
  },
  klEstimate: {
    inputs: ([n, m]) => [[n * m, 1]],
    apply: (graph, [logprobs], seed) => klEstimate(graph, need(logprobs), constant(graph, need(logprobs).shape, seed))
  }
}

const need = (tensor: Tensor | undefined): Tensor => {
  if (tensor === undefined) throw new Error("the operation takes more inputs than it lists")
  return tensor
}

const size = (shape: Shape): number => shape.reduce((total, dimension) => total * dimension, 1)

const constant = (graph: Graph, shape: Shape, seed: string): Tensor => graph.constant(shape, normals(seed, size(shape)))

const SmallSize = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 }))

describe("gradients", () => {
  for (const [name, operation] of Object.entries(operations)) {
    it.effect.prop(
      `${name}: every gradient is the finite difference`,
      [Schema.Tuple([SmallSize, SmallSize, SmallSize, SmallSize]), Schema.Int],
      ([sizes, number]) =>
        Effect.gen(function* () {
          const seed = `${name} ${number}`
          const shapes = operation.inputs(sizes)
          const graph = new Graph()
          const inputs = shapes.map((shape, index) => graph.input(`x${index}`, shape))
          const output = operation.apply(graph, inputs, seed)
          const weights = normals(`${seed} weights`, size(output.shape))
          const loss = weightedSum(graph, output, graph.constant(output.shape, weights))
          const gradients = graph.gradients(loss, inputs)
          graph.output("y", output)
          gradients.forEach((gradient, index) => graph.output(`d${index}`, gradient))
          const evaluate = yield* open(graph.build())

          const values = Object.fromEntries(
            shapes.map((shape, index) => [`x${index}`, normals(`${seed} x${index}`, size(shape))])
          )
          const results = yield* evaluate(values)
          for (const [index] of shapes.entries()) {
            const gradient = at(results, `d${index}`)
            if (dot(gradient, gradient) < 1e-2) continue
            const error = yield* gradientError({
              seed: `${seed} direction ${index}`,
              point: at(values, `x${index}`),
              gradient,
              step: 5e-3,
              value: (point) =>
                Effect.map(evaluate({ ...values, [`x${index}`]: point }), ({ y = weights }) => dot(y, weights))
            })
            assert.isBelow(error, 1e-3, `input ${index} of shape [${String(shapes[index])}]`)
          }
        }),
      { arbitrary: { runs: 8, seed: "gradients" } }
    )
  }
})
