import { encode, type Attributes, type DataType, type Initializer, type Node } from "./Onnx.ts"
import type { ElementType, Program, TensorSpec } from "./Program.ts"

export type Shape = ReadonlyArray<number>

/** A value in a graph: a name with its static shape and element type. */
export interface Tensor<T extends DataType = "float32"> {
  readonly name: string
  readonly shape: Shape
  readonly type: T
}

/**
 * Maps the gradients of an operation's outputs (absent where the loss does not depend on one) to the gradients of its
 * inputs, in the order in which both were recorded.
 */
export type Backward = (gradients: ReadonlyArray<Tensor | undefined>) => ReadonlyArray<Tensor>

/** Size of a tensor along an axis; a negative axis counts from the end. */
export const sizeOf = (tensor: Tensor<DataType>, axis: number): number => {
  const size = tensor.shape.at(axis)
  if (size === undefined) throw new RangeError(`tensor of shape [${tensor.shape.join()}] has no axis ${axis}`)
  return size
}

/**
 * Builds an ONNX program node by node; every shape is static.
 *
 * Operations are functions that add nodes and, where they are differentiable, `record` how gradients pass back through
 * them. `gradients` walks the record in reverse and adds the nodes of the backward pass (reverse-mode automatic
 * differentiation), so training needs nothing but an inference runtime.
 */
export class Graph {
  private readonly nodes: Array<Node> = []
  private readonly tape: Array<Recorded> = []
  private readonly initializers: Array<Initializer> = []
  private readonly scalars = new Map<number, Tensor>()
  private readonly lists = new Map<string, Tensor<"int64">>()
  private readonly inputs: Array<TensorSpec> = []
  private readonly outputs: Array<TensorSpec> = []
  private count = 0

  /** Declares a float32 input of the program. */
  input(name: string, shape: Shape): Tensor {
    const tensor: Tensor = { name, shape, type: "float32" }
    this.inputs.push(tensor)
    return tensor
  }

  /** Declares an int64 input of the program. */
  indexInput(name: string, shape: Shape): Tensor<"int64"> {
    const tensor: Tensor<"int64"> = { name, shape, type: "int64" }
    this.inputs.push(tensor)
    return tensor
  }

  /** Makes `tensor` an output of the program. */
  output(name: string, tensor: Tensor<ElementType>): void {
    const output = { name, shape: tensor.shape, type: tensor.type }
    this.emit("Identity", [tensor], [output])
    this.outputs.push(output)
  }

  /** A float32 constant, stored in the program. */
  constant(shape: Shape, data: Float32Array): Tensor {
    const tensor = this.tensor(shape)
    this.initializers.push({ ...tensor, data })
    return tensor
  }

  /** A float32 constant without axes. */
  scalar(value: number): Tensor {
    return memoize(this.scalars, value, () => this.constant([], Float32Array.of(value)))
  }

  /** A list of integers, such as the shape or the axes that an operator takes as an input. */
  integers(values: ReadonlyArray<number>): Tensor<"int64"> {
    return memoize(this.lists, values.join(), () => {
      const tensor = this.fresh([values.length], "int64")
      this.initializers.push({ ...tensor, data: BigInt64Array.from(values, BigInt) })
      return tensor
    })
  }

  /** A tensor of equal values. */
  filled(shape: Shape, value: number): Tensor {
    return this.node("Expand", [this.scalar(value), this.integers(shape)], shape)
  }

  /** A new float32 tensor, for `emit` to compute. */
  tensor(shape: Shape): Tensor {
    return this.fresh(shape, "float32")
  }

  /** Adds a node that computes `outputs`. Operators of onnxruntime's own are named `com.microsoft.…`. */
  emit(
    operator: string,
    inputs: ReadonlyArray<Tensor<DataType>>,
    outputs: ReadonlyArray<Tensor<DataType>>,
    attributes: Attributes = {}
  ): void {
    const contributed = operator.startsWith("com.microsoft.")
    this.nodes.push({
      operator: contributed ? operator.slice("com.microsoft.".length) : operator,
      domain: contributed ? "com.microsoft" : "",
      inputs: inputs.map(({ name }) => name),
      outputs: outputs.map(({ name }) => name),
      attributes
    })
  }

  /** Adds a node with one float32 output, and returns it. */
  node(operator: string, inputs: ReadonlyArray<Tensor<DataType>>, shape: Shape, attributes?: Attributes): Tensor {
    return this.typedNode("float32", operator, inputs, shape, attributes)
  }

  /** Adds a node with one output of the given type, and returns it. */
  typedNode<T extends DataType>(
    type: T,
    operator: string,
    inputs: ReadonlyArray<Tensor<DataType>>,
    shape: Shape,
    attributes?: Attributes
  ): Tensor<T> {
    const output = this.fresh(shape, type)
    this.emit(operator, inputs, [output], attributes)
    return output
  }

  /** Records that `output` was computed from `inputs`, and how its gradient passes back to them; returns `output`. */
  record(output: Tensor, inputs: ReadonlyArray<Tensor>, backward: (gradient: Tensor) => ReadonlyArray<Tensor>): Tensor {
    this.recordAll([output], inputs, ([gradient]) => (gradient === undefined ? [] : backward(gradient)))
    return output
  }

  /** As `record`, for an operation with several outputs. */
  recordAll(outputs: ReadonlyArray<Tensor>, inputs: ReadonlyArray<Tensor>, backward: Backward): void {
    this.tape.push({ outputs, inputs, backward })
  }

  /** Adds the nodes that compute the gradient of the scalar `loss` with respect to each of `variables`. */
  gradients(loss: Tensor, variables: ReadonlyArray<Tensor>): ReadonlyArray<Tensor> {
    const forward = this.tape.slice()
    const active = new Set(variables.map(({ name }) => name))
    for (const { inputs, outputs } of forward) {
      if (inputs.some(({ name }) => active.has(name))) for (const { name } of outputs) active.add(name)
    }
    const parts = new Map<string, Array<Tensor>>([[loss.name, [this.scalar(1)]]])
    const total = ({ name, shape }: Tensor): Tensor | undefined => {
      const [first, ...rest] = parts.get(name) ?? []
      if (first === undefined || rest.length === 0) return first
      const sum = this.node("Sum", [first, ...rest], shape)
      parts.set(name, [sum])
      return sum
    }
    for (const { inputs, outputs, backward } of forward.toReversed()) {
      if (!outputs.some(({ name }) => active.has(name) && parts.has(name))) continue
      const gradients = backward(outputs.map(total))
      for (const [index, { name }] of inputs.entries()) {
        const gradient = gradients[index]
        if (gradient !== undefined && active.has(name)) parts.set(name, [...(parts.get(name) ?? []), gradient])
      }
    }
    return variables.map((variable) => total(variable) ?? this.filled(variable.shape, 0))
  }

  /** The finished program, without the nodes, constants and inputs that no output depends on. */
  build(): Program {
    const live = new Set(this.outputs.map(({ name }) => name))
    const nodes = this.nodes
      .toReversed()
      .filter(({ inputs, outputs }) => {
        const needed = outputs.some((name) => live.has(name))
        if (needed) for (const name of inputs) live.add(name)
        return needed
      })
      .toReversed()
    const inputs = this.inputs.filter(({ name }) => live.has(name))
    const initializers = this.initializers.filter(({ name }) => live.has(name))
    return { bytes: encode({ nodes, initializers, inputs, outputs: this.outputs }), inputs, outputs: this.outputs }
  }

  private fresh<T extends DataType>(shape: Shape, type: T): Tensor<T> {
    return { name: `t${this.count++}`, shape, type }
  }
}

interface Recorded {
  readonly outputs: ReadonlyArray<Tensor>
  readonly inputs: ReadonlyArray<Tensor>
  readonly backward: Backward
}

const memoize = <K, V>(known: Map<K, V>, key: K, make: () => V): V => {
  const value = known.get(key) ?? make()
  known.set(key, value)
  return value
}
