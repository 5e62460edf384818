import { InferenceSession, Tensor } from "onnxruntime-node"
import type { TensorSpec } from "../graph/Program.ts"
import { sessionOptions } from "../graph/Session.ts"
import type { SharedProgram, Values } from "./Protocol.ts"

/** A session with the arrays it writes its outputs into, so that a run allocates nothing. */
export interface Kernel {
  readonly program: SharedProgram
  readonly run: (feeds: Readonly<Record<string, Tensor>>) => Promise<void>
  /** The array of an output; its content lasts until the next run. */
  readonly output: (name: string) => Float32Array
  readonly release: () => Promise<void>
}

/** `given` holds arrays for outputs that should be written elsewhere than into arrays of the kernel's own. */
export const make = async (
  program: SharedProgram,
  given: Readonly<Record<string, Float32Array>> = {}
): Promise<Kernel> => {
  // Copied: the native binding does not read shared memory here.
  const session = await InferenceSession.create(new Uint8Array(program.bytes).slice(), sessionOptions)
  const arrays = new Map(
    program.outputs.map((spec) => [spec.name, given[spec.name] ?? new Float32Array(elements(spec))] as const)
  )
  const fetches = Object.fromEntries(
    program.outputs.map((spec) => [spec.name, new Tensor("float32", valueOf(arrays, spec.name), spec.shape)] as const)
  )
  return {
    program,
    run: async (feeds) => {
      await session.run(feeds, fetches)
    },
    output: (name) => valueOf(arrays, name),
    release: () => session.release()
  }
}

/** Wraps arrays as the inputs of a program; inputs of other names are ignored. */
export const feeds = (
  program: SharedProgram,
  inputs: Readonly<Record<string, Values>>
): Readonly<Record<string, Tensor>> => {
  const result: Record<string, Tensor> = {}
  for (const { name, shape } of program.inputs) {
    const values = inputs[name]
    if (values !== undefined) result[name] = tensor(values, shape)
  }
  return result
}

const tensor = (values: Values, shape: ReadonlyArray<number>): Tensor =>
  values instanceof Float32Array ? new Tensor("float32", values, shape) : new Tensor("int64", values, shape)

const elements = (spec: TensorSpec): number => spec.shape.reduce((product, length) => product * length, 1)

const valueOf = (arrays: ReadonlyMap<string, Float32Array>, name: string): Float32Array => {
  const value = arrays.get(name)
  if (value === undefined) throw new RangeError(`the program has no output ${name}`)
  return value
}
