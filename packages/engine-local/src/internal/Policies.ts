import { Record as Rec } from "effect"
import { Tensor } from "onnxruntime-node"
import type { Parameter } from "../model/ModelConfig.ts"
import { open } from "./Kernel.ts"
import type { PolicyName, SharedProgram, WorkerData } from "./Protocol.ts"

export type Policies = ReturnType<typeof make>

/** The policies within one worker: views of the shared ones where sessions read shared memory, and copies of its own elsewhere. */
export const make = (data: Pick<WorkerData, "layout" | "policies">, readsShared: boolean) => {
  const arrays = Rec.map(data.policies, (buffer) => array(buffer, readsShared))
  return {
    /** The parameters of each policy by name; always the same arrays. */
    parameters: Rec.map(arrays, ({ values }) => byName(data.layout, values)),
    /** Has the arrays hold what some policies are now. */
    renew: (names: ReadonlyArray<PolicyName>): void => {
      for (const name of names) arrays[name].renew()
    }
  }
}

/**
 * Whether sessions take tensors over shared memory. It depends on the Node.js that runs, and not on its major version
 * alone, so `probe`, which has an input `x` of one number, is run on one.
 */
export const readsShared = async (probe: SharedProgram): Promise<boolean> => {
  const session = await open(probe)
  const x = new Tensor("float32", new Float32Array(new SharedArrayBuffer(4)), [1])
  const taken = await session.run({ x }).then(
    () => true,
    () => false
  )
  await session.release()
  return taken
}

/** The named matrices of a flat array, as views. */
export const byName = (layout: ReadonlyArray<Parameter>, flat: Float32Array): Readonly<Record<string, Float32Array>> =>
  Object.fromEntries(layout.map(({ name, offset, size }) => [name, flat.subarray(offset, offset + size)]))

const array = (buffer: SharedArrayBuffer, readsShared: boolean) => {
  const shared = new Float32Array(buffer)
  if (readsShared) return { values: shared, renew: () => {} }
  const values = shared.slice()
  return { values, renew: () => values.set(shared) }
}
