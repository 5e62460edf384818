import { BinaryReader, WireType } from "@bufbuild/protobuf/wire"
import { assert, describe, it } from "@effect/vitest"
import { add, weightedSum } from "../../src/graph/Elementwise.ts"
import { Graph, sizeOf } from "../../src/graph/Graph.ts"
import { Effect } from "effect"
import { run } from "./Sessions.ts"
import { square } from "./square.ts"

/** The values of a field of texts or messages. */
const field = (wanted: number, message: Uint8Array): ReadonlyArray<Uint8Array> => {
  const reader = new BinaryReader(message)
  const values: Array<Uint8Array> = []
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag()
    if (number === wanted && wireType === WireType.LengthDelimited) values.push(reader.bytes())
    else reader.skip(wireType, number)
  }
  return values
}

describe("Graph", () => {
  it("leaves out nodes, constants and inputs that no output depends on", () => {
    const graph = new Graph()
    const x = graph.input("x", [2])
    const unused = graph.input("unused", [2])
    graph.output("y", square(graph, x))
    add(graph, unused, graph.constant([2], Float32Array.of(1, 2)))
    const program = graph.build()
    assert.deepStrictEqual(program.inputs, [{ name: "x", shape: [2], type: "float32" }])
    const graphs = field(7, program.bytes)
    const nodes = graphs.flatMap((bytes) => field(1, bytes))
    assert.deepStrictEqual(
      nodes.flatMap((node) => field(4, node)).map((operator) => new TextDecoder().decode(operator)),
      ["Mul"]
    )
    assert.deepStrictEqual(
      graphs.flatMap((bytes) => field(5, bytes)),
      []
    )
  })

  it("gives equal bytes for equal graphs", () => {
    const build = () => {
      const graph = new Graph()
      const x = graph.input("x", [2, 3])
      const loss = weightedSum(graph, square(graph, x), graph.filled([2, 3], 2))
      for (const gradient of graph.gradients(loss, [x])) graph.output("dx", gradient)
      return graph.build().bytes
    }
    assert.deepStrictEqual(build(), build())
  })

  it.effect("gives a variable that the loss does not depend on a gradient of zeros", () =>
    Effect.gen(function* () {
      const graph = new Graph()
      const [x, other] = [graph.input("x", [2]), graph.input("other", [3])]
      const loss = weightedSum(graph, x, graph.constant([2], Float32Array.of(3, 4)))
      graph.gradients(loss, [x, other]).forEach((gradient, index) => graph.output(`d${index}`, gradient))
      const results = yield* run(graph.build(), { x: Float32Array.of(1, 2) })
      assert.deepStrictEqual(results, { d0: Float32Array.of(3, 4), d1: Float32Array.of(0, 0, 0) })
    })
  )

  it.effect("gives what is an output twice, and an input that is an output", () =>
    Effect.gen(function* () {
      const graph = new Graph()
      const x = graph.input("x", [2])
      const y = square(graph, x)
      graph.output("first", y)
      graph.output("second", y)
      graph.output("third", x)
      graph.output("fourth", square(graph, y))
      assert.deepStrictEqual(yield* run(graph.build(), { x: Float32Array.of(2, -3) }), {
        first: Float32Array.of(4, 9),
        second: Float32Array.of(4, 9),
        third: Float32Array.of(2, -3),
        fourth: Float32Array.of(16, 81)
      })
    })
  )

  it("names the shape when a tensor has no such axis", () => {
    assert.throws(() => sizeOf(new Graph().input("x", [2, 3]), 2), "tensor of shape [2,3] has no axis 2")
  })
})
