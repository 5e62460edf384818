export type ElementType = "float32" | "int64"

/** Name, element type and static shape of one input or output of a program; `[]` is a scalar. */
export interface TensorSpec {
  readonly name: string
  readonly type: ElementType
  readonly shape: ReadonlyArray<number>
}

/** A complete ONNX model: the bytes a session is created from, and what it takes and gives, in a fixed order. */
export interface Program {
  readonly bytes: Uint8Array
  readonly inputs: ReadonlyArray<TensorSpec>
  readonly outputs: ReadonlyArray<TensorSpec>
  /** More inputs, and what they must hold: the sizes of a program whose bytes serve any. */
  readonly sizes: Readonly<Record<string, BigInt64Array<ArrayBuffer>>>
}
