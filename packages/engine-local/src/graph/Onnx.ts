import { create, toBinary } from "@bufbuild/protobuf"
import { ModelProtoSchema } from "./generated/onnx_pb.ts"

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

/** The bytes of an ONNX file: IR version 9, operator set 18 plus onnxruntime's `com.microsoft`. */
export const encode = (model: Model): Uint8Array =>
  toBinary(
    ModelProtoSchema,
    create(ModelProtoSchema, {
      irVersion: 9n,
      opsetImport: [
        { domain: "", version: 18n },
        { domain: "com.microsoft", version: 1n }
      ],
      graph: {
        name: "graph",
        node: model.nodes.map((node) => ({
          opType: node.operator,
          domain: node.domain,
          input: [...node.inputs],
          output: [...node.outputs],
          attribute: Object.entries(node.attributes).map(([name, value]) => attribute(name, value))
        })),
        initializer: model.initializers.map(({ name, type, shape, data }) => ({
          name,
          dims: shape.map(BigInt),
          dataType: dataTypes[type],
          rawData: new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
        })),
        input: model.inputs.map(valueInfo),
        output: model.outputs.map(valueInfo)
      }
    })
  )

// Numbers of the enums TensorProto.DataType and AttributeProto.AttributeType.
const dataTypes = { float32: 1, int64: 7, bool: 9 } as const
const attributeTypes = { float: 1, int: 2, string: 3, ints: 7 } as const

const attribute = (name: string, value: Attribute) => {
  if (typeof value === "string") return { name, s: new TextEncoder().encode(value), type: attributeTypes.string }
  if (typeof value === "number") return { name, i: BigInt(value), type: attributeTypes.int }
  if ("float" in value) return { name, f: value.float, type: attributeTypes.float }
  return { name, ints: value.map(BigInt), type: attributeTypes.ints }
}

const valueInfo = ({ name, type, shape }: Value) => ({
  name,
  type: {
    tensorType: {
      elemType: dataTypes[type],
      shape: { dim: shape.map((size) => (size < 0 ? {} : { dimValue: BigInt(size) })) }
    }
  }
})
