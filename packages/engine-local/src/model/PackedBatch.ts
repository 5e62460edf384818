import { maskedScore } from "../graph/Attention.ts"
import type { PackedShape } from "./PackedGraph.ts"

/** A prompt of at least one token and the responses sampled from it. */
export interface PackedGroup {
  readonly prompt: ReadonlyArray<number>
  readonly responses: ReadonlyArray<ReadonlyArray<number>>
}

/** The inputs of `packedGraph` that follow from the tokens. */
interface PackedInputs {
  readonly tokens: BigInt64Array<ArrayBuffer>
  readonly previous: BigInt64Array<ArrayBuffer>
  readonly positions: BigInt64Array<ArrayBuffer>
  readonly targets: BigInt64Array<ArrayBuffer>
  readonly promptBias: Float32Array<ArrayBuffer>
}

/**
 * Lays groups out as `packedGraph` takes them. There may be fewer groups, completions or tokens than the shape has room
 * for; the rest is padding, and its rows must have weight 0. More than that is a `RangeError`.
 */
export const packedInputs = (shape: PackedShape, groups: ReadonlyArray<PackedGroup>): PackedInputs => {
  const { completions, promptLength, responseLength } = shape
  const promptRows = shape.groups * promptLength
  const responseRows = shape.groups * completions * responseLength
  const inputs: PackedInputs = {
    tokens: new BigInt64Array(promptRows + responseRows),
    previous: new BigInt64Array(promptRows + responseRows),
    positions: new BigInt64Array(promptRows + responseRows),
    targets: new BigInt64Array(responseRows),
    promptBias: new Float32Array(promptRows).fill(maskedScore)
  }
  const write = (row: number, sequence: ReadonlyArray<number>, position: number): void => {
    inputs.tokens[row] = BigInt(sequence[position] ?? 0)
    inputs.previous[row] = BigInt(sequence[position - 1] ?? 0)
    inputs.positions[row] = BigInt(position)
  }
  checkFits("groups", groups.length, shape.groups)
  for (const [group, { prompt, responses }] of groups.entries()) {
    const known = prompt.length - 1
    checkFits("prompt tokens", known, promptLength)
    checkFits("completions", responses.length, completions)
    for (let slot = 0; slot < known; slot++) {
      write(group * promptLength + slot, prompt, slot)
      inputs.promptBias[group * promptLength + slot] = 0
    }
    for (const [completion, response] of responses.entries()) {
      checkFits("response tokens", response.length, responseLength)
      const first = (group * completions + completion) * responseLength
      const sequence = [...prompt, ...response]
      for (const [slot, target] of response.entries()) {
        write(promptRows + first + slot, sequence, known + slot)
        inputs.targets[first + slot] = BigInt(target)
      }
    }
  }
  return inputs
}

/**
 * One number per response token laid out as the rows of `packedGraph` that predict them, 0 on padding: `weights`,
 * `counts`, `advantages` and the log-probabilities. `values[group][completion]` is parallel to the response.
 */
export const packedValues = (
  shape: PackedShape,
  values: ReadonlyArray<ReadonlyArray<ReadonlyArray<number>>>
): Float32Array<ArrayBuffer> => {
  const { completions, responseLength } = shape
  const rows = new Float32Array(shape.groups * completions * responseLength)
  for (const [group, ofGroup] of values.entries()) {
    for (const [completion, ofResponse] of ofGroup.entries()) {
      rows.set(ofResponse, (group * completions + completion) * responseLength)
    }
  }
  return rows
}

const checkFits = (what: string, count: number, room: number): void => {
  if (count > room) throw new RangeError(`${count} ${what} do not fit into a packed shape with room for ${room}`)
}
