import type { Tensor } from "onnxruntime-node"
import { add } from "./Values.ts"
import * as Kernel from "./Kernel.ts"
import { byName, type Policies } from "./Policies.ts"
import type { Batch, EvaluateReply, EvaluateRequest, SharedProgram, WorkerData } from "./Protocol.ts"
import type { ModelConfig } from "../model/ModelConfig.ts"

/** Runs scoring and training programs within one worker, keeping their sessions. */
export const make = (data: WorkerData, parameters: Policies["parameters"]) => {
  const lanes = data.lanes.map((lane) => new Float32Array(lane))
  const scratch = new Float32Array(data.layout.reduce((total, { size }) => total + size, 0))
  const gradientViews = Object.fromEntries(
    Object.entries(byName(data.layout, scratch)).map(([name, view]) => [`d_${name}`, view] as const)
  )
  const positionGradient = gradientViews["d_pos"]
  const kernels = new Map<string, Kernel.Kernel>()

  const kernelOf = async (program: SharedProgram): Promise<Kernel.Kernel> => {
    const known = kernels.get(program.key)
    // Put back at the end, so that the first is the one not used for longest.
    kernels.delete(program.key)
    const kernel = known ?? (await Kernel.make(program, gradientViews))
    kernels.set(program.key, kernel)
    const [oldest] = kernels
    if (oldest !== undefined && kernels.size > mostKernels) {
      kernels.delete(oldest[0])
      await oldest[1].release()
    }
    return kernel
  }

  const gradient = (kernel: Kernel.Kernel, batch: Batch): void => {
    positionGradient?.fill(0)
    scatterInputGradient(
      data.config,
      {
        tokens: integers(batch, "tokens"),
        previous: integers(batch, "previous"),
        positions: integers(batch, "positions"),
        dx0: kernel.output("dx0"),
        dprev: kernel.output("dprev")
      },
      scratch
    )
  }

  return async (request: EvaluateRequest): Promise<EvaluateReply> => {
    const lane = request.lane === null ? undefined : lanes[request.lane]
    const reply: Array<Record<string, Float32Array>> = []
    for (const [index, batch] of request.batches.entries()) {
      const kernel = await kernelOf(batch.program)
      const inputs: Record<string, Tensor> = {
        ...Kernel.feeds(batch.program, parameters[request.policy]),
        ...Kernel.feeds(batch.program, batch.inputs)
      }
      await kernel.run(batch.program, inputs)
      reply.push(Object.fromEntries(request.outputs.map((name) => [name, kernel.output(name).slice()])))
      if (lane !== undefined) {
        gradient(kernel, batch)
        if (index === 0) lane.set(scratch)
        else add(lane, scratch)
      }
    }
    return reply
  }
}

const integers = (batch: Batch, name: string): BigInt64Array => {
  const values = batch.inputs[name]
  if (!(values instanceof BigInt64Array)) throw new RangeError(`the batch has no integer input ${name}`)
  return values
}

/** Sessions kept per worker; more than one for a kind of program only where equal sizes make it simpler. */
const mostKernels = 24

/** The gradient of a program's input rows, `dx0` and `dprev`, with the indices that gathered them. */
interface InputGradient {
  readonly tokens: BigInt64Array
  readonly previous: BigInt64Array
  readonly positions: BigInt64Array
  readonly dx0: Float32Array
  readonly dprev: Float32Array
}

/**
 * Adds the gradient of the gathered rows to the `emb` and `pos` parts of a flat gradient, in place: the backward pass
 * of the look-ups `emb[token] + pos[position]` and `emb[previous]`.
 */
export const scatterInputGradient = (config: ModelConfig, input: InputGradient, gradient: Float32Array): void => {
  const { width } = config
  const pos = config.vocabulary * width
  for (let row = 0; row < input.tokens.length; row++) {
    const from = row * width
    const token = Number(input.tokens[row]) * width
    const previous = Number(input.previous[row]) * width
    const position = pos + Number(input.positions[row]) * width
    for (let column = 0; column < width; column++) {
      const dx0 = input.dx0[from + column] ?? 0
      gradient[token + column] = (gradient[token + column] ?? 0) + dx0
      gradient[position + column] = (gradient[position + column] ?? 0) + dx0
      gradient[previous + column] = (gradient[previous + column] ?? 0) + (input.dprev[from + column] ?? 0)
    }
  }
}
