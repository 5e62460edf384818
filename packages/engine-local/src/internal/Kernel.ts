import { InferenceSession, Tensor } from "onnxruntime-node"
import type { TensorSpec } from "../graph/Program.ts"
import type { SharedProgram, Values } from "./Protocol.ts"

export type Kernel = Awaited<ReturnType<typeof make>>

/**
 * A session with the arrays it writes its outputs into, which grow with the programs that run. `given` holds arrays for outputs
 * that should be written elsewhere than into arrays of the kernel's own.
 */
export const make = async (program: SharedProgram, given: Readonly<Record<string, Float32Array>> = {}) => {
  const session = await open(program)
  const arrays = new Map(Object.entries(given))
  let outputs = new Map<string, Float32Array>()

  const room = (spec: TensorSpec): Float32Array => {
    const size = elements(spec)
    const known = arrays.get(spec.name)
    const array = known !== undefined && known.length >= size ? known : new Float32Array(size)
    arrays.set(spec.name, array)
    return array.subarray(0, size)
  }

  return {
    /** Runs a program of the session's key. */
    run: async (program: SharedProgram, feeds: Readonly<Record<string, Tensor>>): Promise<void> => {
      outputs = new Map(program.outputs.map((spec) => [spec.name, room(spec)] as const))
      const sizes = Object.entries(program.sizes).map(
        ([name, values]) => [name, new Tensor("int64", values, [values.length])] as const
      )
      const fetches = program.outputs.map(
        ({ name, shape }) => [name, new Tensor("float32", valueOf(outputs, name), shape)] as const
      )
      await session.run({ ...feeds, ...Object.fromEntries(sizes) }, Object.fromEntries(fetches))
    },
    /** The array of an output of the last run; its content lasts until the next one. */
    output: (name: string): Float32Array => valueOf(outputs, name),
    release: () => session.release()
  }
}

/** A session of the program. Its bytes are copied, since the native binding does not read shared memory here. */
export const open = (program: SharedProgram): Promise<InferenceSession> =>
  InferenceSession.create(new Uint8Array(program.bytes).slice(), sessionOptions)

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

/**
 * Session options for every program of this package: one thread (parallelism comes from workers, each with its own
 * session), nodes in order, and denormals taken as zero, which otherwise slow a masked softmax down eightfold; from the
 * first run on, that holds for all arithmetic of its thread. Graphs are not optimized: they run no faster for it, and a
 * session takes three times as long to create. Memory comes from malloc, tensor by tensor: one block for all of a run's
 * would go back to the system after it and be faulted in again.
 */
export const sessionOptions: InferenceSession.SessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: "sequential",
  enableCpuMemArena: false,
  enableMemPattern: false,
  graphOptimizationLevel: "disabled",
  logSeverityLevel: 3,
  extra: { session: { set_denormal_as_zero: "1" } }
}
