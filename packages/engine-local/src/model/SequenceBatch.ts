/** The inputs of `sequenceGraph` that follow from the tokens. */
interface SequenceInputs {
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
