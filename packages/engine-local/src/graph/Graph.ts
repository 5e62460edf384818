import { encode, type Attributes, type DataType, type Initializer, type Node } from "./Onnx.ts"
import type { ElementType, Program, TensorSpec } from "./Program.ts"

/** Sizes of the axes; `unknown` is a size that a program learns when it runs. */
export type Shape = ReadonlyArray<number>

export const unknown = -1

/** A value in a graph: a name with its shape and element type. */
export interface Tensor<T extends DataType = "float32"> {
  readonly name: string
  readonly shape: Shape
  readonly type: T
}

/** Maps the gradients of an operation's outputs, absent where the loss does not use one, to those of its inputs, in recorded order. */
type Backward = (gradients: ReadonlyArray<Tensor | undefined>) => ReadonlyArray<Tensor>

/** Size of a tensor along an axis; a negative axis counts from the end. */
export const sizeOf = (tensor: Tensor<DataType>, axis: number): number => {
  const size = tensor.shape.at(axis)
  if (size === undefined) throw new RangeError(`tensor of shape [${tensor.shape.join()}] has no axis ${axis}`)
  return size
}

/**
 * Builds an ONNX program node by node.
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
  private readonly sizeLists = new Map<string, SizeList>()
  private readonly inputs: Array<TensorSpec> = []
  private readonly outputs: Array<{ readonly name: string; readonly tensor: Tensor<ElementType> }> = []
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
    this.outputs.push({ name, tensor })
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

  /** A list of integers, such as the axes that an operator takes as an input. */
  integers(values: ReadonlyArray<number>): Tensor<"int64"> {
    return memoize(this.lists, values.join(), () => {
      const tensor = this.fresh([values.length], "int64")
      this.initializers.push({ ...tensor, data: BigInt64Array.from(values, BigInt) })
      return tensor
    })
  }

  /** A list of sizes, such as the shape that an operator takes as an input. */
  sizes(values: Shape): Tensor<"int64"> {
    const list = memoize(this.sizeLists, values.join(), () => ({
      tensor: this.fresh([values.length], "int64"),
      data: BigInt64Array.from(values, BigInt)
    }))
    return list.tensor
  }

  /** A tensor of equal values. */
  filled(shape: Shape, value: number): Tensor {
    return this.node("Expand", [this.scalar(value), this.sizes(shape)], shape)
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
    const { inputs, outputs, sizeLists, ...rest } = this.finish()
    const sizes = sizeLists.map(({ tensor, data }) => ({ ...tensor, data }))
    const bytes = encode({ ...rest, initializers: [...rest.initializers, ...sizes], inputs, outputs })
    return { bytes, inputs, outputs, sizes: {} }
  }

  /** As `build` with sizes as inputs: graphs that are alike but for sizes give equal bytes, so that one session serves them all. */
  buildForAnySize(): Program {
    const { inputs, outputs, sizeLists, ...rest } = this.finish()
    const open = (values: ReadonlyArray<TensorSpec>) =>
      values.map((value) => ({ ...value, shape: value.shape.map(() => unknown) }))
    const lists = sizeLists.map(({ tensor }) => ({ ...tensor, type: "int64" as const }))
    const bytes = encode({ ...rest, inputs: open([...inputs, ...lists]), outputs: open(outputs) })
    return {
      bytes,
      inputs,
      outputs,
      sizes: Object.fromEntries(sizeLists.map(({ tensor, data }) => [tensor.name, data]))
    }
  }

  private finish() {
    const live = new Set(this.outputs.map(({ tensor }) => tensor.name))
    const nodes = this.nodes
      .toReversed()
      .filter(({ inputs, outputs }) => {
        const needed = outputs.some((name) => live.has(name))
        if (needed) for (const name of inputs) live.add(name)
        return needed
      })
      .toReversed()
    return {
      nodes: this.nameOutputs(nodes),
      initializers: this.initializers.filter(({ name }) => live.has(name)),
      sizeLists: Array.from(this.sizeLists.values()).filter(({ tensor }) => live.has(tensor.name)),
      inputs: this.inputs.filter(({ name }) => live.has(name)),
      outputs: this.outputs.map(({ name, tensor }) => ({ ...tensor, name }))
    }
  }

  /** Has nodes write outputs under their names; copies what is not a node's own or has two names. */
  private nameOutputs(nodes: ReadonlyArray<Node>): ReadonlyArray<Node> {
    const computed = new Set(nodes.flatMap(({ outputs }) => outputs))
    const names = new Map<string, string>()
    const copies: Array<Node> = []
    for (const { name, tensor } of this.outputs) {
      if (computed.has(tensor.name) && !names.has(tensor.name)) names.set(tensor.name, name)
      else copies.push({ operator: "Identity", domain: "", inputs: [tensor.name], outputs: [name], attributes: {} })
    }
    const renamed = (name: string) => names.get(name) ?? name
    return [...nodes, ...copies].map((node) => ({
      ...node,
      inputs: node.inputs.map(renamed),
      outputs: node.outputs.map(renamed)
    }))
  }

  private fresh<T extends DataType>(shape: Shape, type: T): Tensor<T> {
    return { name: `t${this.count++}`, shape, type }
  }
}

interface SizeList {
  readonly tensor: Tensor<"int64">
  readonly data: BigInt64Array<ArrayBuffer>
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
