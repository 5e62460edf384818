import { type Fields, packed, write } from "@inspo/engine/Protobuf"

/** Element types that occur in a graph, by their ONNX names. */
export type DataType = "float32" | "int64" | "bool"

/** A node attribute: a number is an integer, an array a list of integers. */
type Attribute = string | number | ReadonlyArray<number> | { readonly float: number }

export type Attributes = Readonly<Record<string, Attribute>>

interface Value {
  readonly name: string
  readonly type: DataType
  readonly shape: ReadonlyArray<number>
}

export interface Initializer extends Value {
  readonly data: Float32Array | BigInt64Array
}

/** One operator application. `domain` is `""` for ONNX's own operators and `"com.microsoft"` for onnxruntime's. */
export interface Node {
  readonly operator: string
  readonly domain: string
  readonly inputs: ReadonlyArray<string>
  readonly outputs: ReadonlyArray<string>
  readonly attributes: Attributes
}

interface Model {
  /** In an order in which every node comes after those it reads from. */
  readonly nodes: ReadonlyArray<Node>
  readonly initializers: ReadonlyArray<Initializer>
  readonly inputs: ReadonlyArray<Value>
  readonly outputs: ReadonlyArray<Value>
}

/**
 * The bytes of an ONNX file: IR version 9, operator set 18 plus onnxruntime's `com.microsoft`. The numbers of fields are those
 * of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
 */
export const encode = ({ initializers, inputs, nodes, outputs }: Model): Uint8Array => {
  const graph = {
    1: nodes.map(nodeOf),
    2: "graph",
    5: initializers.map(tensorOf),
    11: inputs.map(valueOf),
    12: outputs.map(valueOf)
  }
  return write({ 1: 9, 7: graph, 8: [{ 2: 18 }, { 1: "com.microsoft", 2: 1 }] })
}

const nodeOf = (node: Node): Fields => ({
  1: node.inputs,
  2: node.outputs,
  4: node.operator,
  5: Object.entries(node.attributes).map(([name, value]) => ({ 1: name, ...attributeOf(value) })),
  7: node.domain
})

const tensorOf = ({ data, name, shape, type }: Initializer): Fields => ({
  1: packed(shape),
  2: dataTypes[type],
  8: name,
  9: new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
})

/** A size that is unknown is an empty message. */
const valueOf = ({ name, shape, type }: Value): Fields => ({
  1: name,
  2: { 1: { 1: dataTypes[type], 2: { 1: shape.map((size) => (size < 0 ? {} : { 1: size })) } } }
})

// Numbers of the enums TensorProto.DataType and, in field 20, AttributeProto.AttributeType.
const dataTypes = { float32: 1, int64: 7, bool: 9 } as const

const attributeOf = (value: Attribute): Fields => {
  if (typeof value === "string") return { 4: value, 20: 3 }
  if (typeof value === "number") return { 3: value, 20: 2 }
  return "float" in value ? { 2: value, 20: 1 } : { 8: packed(value), 20: 7 }
}
