import { Array as Arr, Order } from "effect"
import type { CostedBatch } from "./WorkerPool.ts"
import type { Programs } from "./Programs.ts"

/** One sequence to learn; `weights` is parallel to `tokens`, its first element is not used. */
export interface WeightedSequence {
  readonly tokens: ReadonlyArray<number>
  readonly weights: ReadonlyArray<number>
}

/** Which sequences, by index, share a run of `rows` sequences padded to `length` tokens. */
interface SequencePlan {
  readonly rows: number
  readonly length: number
  readonly sequences: ReadonlyArray<number>
}

/**
 * Groups sequences of similar length into runs of about {@link tokensPerRun} tokens. Lengths are rounded up to few
 * sizes, so that few programs are needed. The plan depends on the lengths alone.
 */
export const plan = (lengths: ReadonlyArray<number>): ReadonlyArray<SequencePlan> => {
  const longestFirst = Arr.sort(
    lengths.map((length, index) => ({ length, index })),
    Order.mapInput(Order.flip(Order.Number), (sequence: { readonly length: number }) => sequence.length)
  )
  const plans: Array<SequencePlan> = []
  for (let at = 0; at < longestFirst.length;) {
    const length = bucket(longestFirst[at]?.length ?? 0)
    const rows = Math.max(1, Math.floor(tokensPerRun / length))
    plans.push({ rows, length, sequences: longestFirst.slice(at, at + rows).map(({ index }) => index) })
    at += rows
  }
  return plans
}

/** The runs of a cross-entropy step; `scale` multiplies every weight. */
export const batches = (
  programs: Programs,
  sequences: ReadonlyArray<WeightedSequence>,
  scale: number
): ReadonlyArray<CostedBatch> =>
  plan(sequences.map(({ tokens }) => tokens.length - 1)).map(({ rows, length, sequences: members }) => {
    const batch = members.flatMap((member) => sequences[member] ?? [])
    const weights = new Float32Array(rows * length)
    batch.forEach((sequence, row) => {
      const scaled = sequence.weights.slice(1).map((weight) => scale * weight)
      weights.set(scaled, row * length)
    })
    const inputs = sequenceInputs(
      { rows, length },
      batch.map(({ tokens }) => tokens)
    )
    return {
      program: programs.sequence(rows, length, "cross-entropy"),
      inputs: { ...inputs, weights },
      cost: rows * length
    }
  })

/** Small enough for activations to stay in the cache, large enough for the matrix products. */
const tokensPerRun = 640

/** The lengths that programs are built for: few, since a program costs time and memory, yet seldom much too long. */
export const bucket = (length: number): number => lengths.find((limit) => length <= limit) ?? roundUp(length, 128)

const lengths = [16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 256]

const roundUp = (length: number, step: number): number => Math.ceil(length / step) * step

/** The inputs of `sequenceGraph` that follow from the tokens. */
export interface SequenceInputs {
  readonly tokens: BigInt64Array<ArrayBuffer>
  readonly previous: BigInt64Array<ArrayBuffer>
  readonly positions: BigInt64Array<ArrayBuffer>
  readonly targets: BigInt64Array<ArrayBuffer>
}

/**
 * Lays sequences out as `sequenceGraph` takes them: row `t` of a sequence takes token `t` and predicts token `t + 1`, so
 * `length + 1` tokens fit. The rest is padding, and its rows must have weight 0. Longer or more sequences are a
 * `RangeError`.
 */
export const sequenceInputs = (
  shape: { readonly rows: number; readonly length: number },
  sequences: ReadonlyArray<ReadonlyArray<number>>
): SequenceInputs => {
  const { rows, length } = shape
  if (sequences.length > rows) throw new RangeError(`${sequences.length} sequences do not fit into ${rows} rows`)
  const inputs: SequenceInputs = {
    tokens: new BigInt64Array(rows * length),
    previous: new BigInt64Array(rows * length),
    positions: new BigInt64Array(rows * length),
    targets: new BigInt64Array(rows * length)
  }
  for (const [row, sequence] of sequences.entries()) {
    if (sequence.length > length + 1) {
      throw new RangeError(
        `a sequence of ${sequence.length} tokens does not fit into ${length} slots and a last target`
      )
    }
    for (let slot = 0; slot < sequence.length - 1; slot++) {
      const index = row * length + slot
      inputs.tokens[index] = BigInt(sequence[slot] ?? 0)
      inputs.previous[index] = BigInt(sequence[slot - 1] ?? 0)
      inputs.positions[index] = BigInt(slot)
      inputs.targets[index] = BigInt(sequence[slot + 1] ?? 0)
    }
  }
  return inputs
}
