import { Tensor } from "onnxruntime-node"
import type { CacheShape } from "./Protocol.ts"

/**
 * The key-value cache of decoding and prefill programs, for a fixed number of rows; `declareCache` says how its inputs
 * are laid out.
 *
 * Its arrays are laid out for `context` slots per row, which `fit` changes, so that short sequences are not charged
 * for long ones. Slots that no token has filled are masked, and what they hold has no effect as long as it is finite.
 *
 * Keys and values move out of and into rows as they are there, all slots of the row, which takes least time.
 */
export class KeyValueRows {
  context: number
  private readonly shape: CacheShape
  private readonly width: number
  private readonly layers: ReadonlyArray<Layer>
  private readonly lines: ReadonlyArray<Lines>
  private readonly mask: Float32Array

  constructor(shape: CacheShape, rows: number) {
    const { heads, headWidth, context } = shape
    this.shape = shape
    this.context = context
    this.width = heads * headWidth
    this.layers = Array.from({ length: shape.layers }, () => ({
      keys: { array: new Float32Array(rows * this.width * context), perRow: this.width, perSlot: 1, unused: 0 },
      values: {
        array: new Float32Array(rows * this.width * (1 + context)),
        perRow: heads,
        perSlot: headWidth,
        unused: headWidth
      }
    }))
    this.lines = this.layers.flatMap(({ keys, values }) => [keys, values])
    this.mask = new Float32Array(rows * (1 + context))
  }

  /** The inputs of a program for the first `rows` rows at the present context, as views. */
  feeds(rows: number): Readonly<Record<string, Tensor>> {
    const { context, width } = this
    const { heads, headWidth } = this.shape
    const view = (array: Float32Array, size: number, shape: ReadonlyArray<number>) =>
      new Tensor("float32", array.subarray(0, rows * size), [rows, ...shape])
    const result: Record<string, Tensor> = { mask: view(this.mask, 1 + context, [1, 1, 1 + context]) }
    this.layers.forEach(({ keys, values }, layer) => {
      result[`keys${layer}`] = view(keys.array, width * context, [heads, headWidth, context])
      result[`values${layer}`] = view(values.array, width * (1 + context), [heads, 1 + context, headWidth])
    })
    return result
  }

  /** Gives the row the first `length` positions of what `save` gave, an empty array if it is 0, and nothing after them. */
  load(row: number, source: Float32Array, length: number): void {
    if (source.length === 0) this.clear(row)
    else this.copy(row, source, (source.length / (this.layers.length * this.width) - 1) / 2)
    const from = row * (1 + this.context)
    this.mask.fill(0, from, from + 1 + length)
    this.mask.fill(this.shape.maskedScore, from + 1 + length, from + 1 + this.context)
  }

  /** Writes into the slot of `position`, per layer, the keys and values number `token` of what a step gave. */
  append(
    row: number,
    position: number,
    token: number,
    newKeys: ReadonlyArray<Float32Array>,
    newValues: ReadonlyArray<Float32Array>
  ): void {
    const { context, width } = this
    const { heads, headWidth } = this.shape
    const from = token * width
    this.layers.forEach(({ keys, values }, layer) => {
      const [keysOf, valuesOf] = [newKeys[layer], newValues[layer]]
      if (keysOf === undefined || valuesOf === undefined) return
      for (let column = 0; column < width; column++) {
        keys.array[(row * width + column) * context + position] = keysOf[from + column] ?? 0
      }
      for (let head = 0; head < heads; head++) {
        const to = ((row * heads + head) * (1 + context) + 1 + position) * headWidth
        const first = from + head * headWidth
        for (let column = 0; column < headWidth; column++) values.array[to + column] = valuesOf[first + column] ?? 0
      }
    })
    this.mask[row * (1 + context) + 1 + position] = 0
  }

  save(row: number): Float32Array {
    const target = new Float32Array(this.layers.length * this.width * (1 + 2 * this.context))
    let to = 0
    for (const { array, perRow, perSlot, unused } of this.lines) {
      const size = perRow * (unused + perSlot * this.context)
      target.set(array.subarray(row * size, (row + 1) * size), to)
      to += size
    }
    return target
  }

  /** Overwrites row `to` with row `from`. */
  move(from: number, to: number): void {
    const copy = (array: Float32Array, size: number) => {
      array.copyWithin(to * size, from * size, (from + 1) * size)
    }
    for (const { array, perRow, perSlot, unused } of this.lines) copy(array, perRow * (unused + perSlot * this.context))
    copy(this.mask, 1 + this.context)
  }

  /** Makes room for `slots` positions per row, not much more, keeping the first `lengths[row]` positions of each row. */
  fit(slots: number, lengths: ReadonlyArray<number>): void {
    const context = Math.min(slotStep * Math.ceil(slots / slotStep), this.shape.context)
    if (context === this.context) return
    const saved = lengths.map((_, row) => this.save(row))
    this.context = context
    saved.forEach((source, row) => this.load(row, source, lengths[row] ?? 0))
  }

  reset(): void {
    for (const { array } of this.lines) array.fill(0)
  }

  private clear(row: number): void {
    for (const { array, perRow, perSlot, unused } of this.lines) {
      const size = perRow * (unused + perSlot * this.context)
      array.fill(0, row * size, (row + 1) * size)
    }
  }

  /** Copies as many slots into the row as both it and `source`, which has `slots`, hold. */
  private copy(row: number, source: Float32Array, slots: number): void {
    let from = 0
    for (const { array, perRow, perSlot, unused } of this.lines) {
      const [size, sourceSize] = [unused + perSlot * this.context, unused + perSlot * slots]
      // Lines of equal length are behind one another, and are copied as one.
      const [lines, length] = size === sourceSize ? [1, perRow * size] : [perRow, Math.min(size, sourceSize)]
      for (let line = 0; line < lines; line++) {
        const start = from + line * sourceSize
        array.set(source.subarray(start, start + length), row * perRow * size + line * size)
      }
      from += perRow * sourceSize
    }
  }
}

interface Layer {
  readonly keys: Lines
  readonly values: Lines
}

/** An array of lines, `perRow` for each row: `unused` zeros, then `perSlot` elements for every slot. */
interface Lines {
  readonly array: Float32Array
  readonly perRow: number
  readonly perSlot: number
  readonly unused: number
}

/** The number of slots is a multiple of this, itself one of 16: padding costs time, and so does changing the number. */
const slotStep = 32
