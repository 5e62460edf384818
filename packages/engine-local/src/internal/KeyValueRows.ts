import type { CacheShape, Values } from "./Protocol.ts"

/**
 * The key-value cache of the decoding programs, for a fixed number of rows.
 *
 * Its arrays are laid out for `context` slots per row, which `resize` changes, so that short sequences are not charged
 * for long ones. Slots that no token has filled hold zeros, which makes a row's content, and so its results, a function
 * of its own tokens.
 *
 * Keys and values move out of and into rows as `[layer][keys, values][position][keyValueWidth]`.
 */
export class KeyValueRows {
  context: number
  private readonly shape: CacheShape
  private readonly width: number
  private readonly keys: ReadonlyArray<Float32Array>
  private readonly values: ReadonlyArray<Float32Array>
  private readonly mask: Float32Array

  constructor(shape: CacheShape, rows: number) {
    this.shape = shape
    this.context = shape.context
    this.width = shape.heads * shape.headWidth
    const layers = () => Array.from({ length: shape.layers }, () => new Float32Array(rows * this.width * shape.context))
    this.keys = layers()
    this.values = layers()
    this.mask = new Float32Array(rows * (shape.context + 1))
  }

  /** The inputs of a decoding program for the first `rows` rows at the present context, as views. */
  inputs(rows: number): Readonly<Record<string, Values>> {
    const size = rows * this.width * this.context
    return {
      mask: this.mask.subarray(0, rows * (this.context + 1)),
      ...Object.fromEntries(this.keys.map((keys, layer) => [`keys${layer}`, keys.subarray(0, size)])),
      ...Object.fromEntries(this.values.map((values, layer) => [`values${layer}`, values.subarray(0, size)]))
    }
  }

  /** Gives the row the first `length` positions of `source`, and nothing after them. */
  load(row: number, source: Float32Array, length: number): void {
    const { context, width } = this
    const from = row * width * context
    const block = source.length / (2 * this.keys.length)
    this.eachLayer((keys, values, layer) => {
      keys.fill(0, from, from + width * context)
      values.fill(0, from, from + width * context)
      const sourceKeys = source.subarray(2 * layer * block, (2 * layer + 1) * block)
      const sourceValues = source.subarray((2 * layer + 1) * block, (2 * layer + 2) * block)
      for (let position = 0; position < length; position++) {
        this.write(keys, values, row, position, sourceKeys, sourceValues, position * width)
      }
    })
    const maskFrom = row * (context + 1)
    this.mask.fill(0, maskFrom, maskFrom + length)
    this.mask.fill(this.shape.maskedScore, maskFrom + length, maskFrom + context)
    this.mask[maskFrom + context] = 0
  }

  /** Writes what a step gave for `row`, per layer, into the slot `position`. */
  append(
    row: number,
    position: number,
    newKeys: ReadonlyArray<Float32Array>,
    newValues: ReadonlyArray<Float32Array>
  ): void {
    this.eachLayer((keys, values, layer) => {
      const [keysOf, valuesOf] = [newKeys[layer], newValues[layer]]
      if (keysOf === undefined || valuesOf === undefined) return
      this.write(keys, values, row, position, keysOf, valuesOf, row * this.width)
    })
    this.mask[row * (this.context + 1) + position] = 0
  }

  /** Copies the first `length` positions of the row into `target`. */
  save(row: number, length: number, target: Float32Array): void {
    const { context, width } = this
    const { heads, headWidth } = this.shape
    const block = length * width
    this.eachLayer((keys, values, layer) => {
      for (let column = 0; column < width; column++) {
        const keyFrom = (row * width + column) * context
        const to = 2 * layer * block + column
        for (let position = 0; position < length; position++) {
          target[to + position * width] = keys[keyFrom + position] ?? 0
        }
      }
      for (let head = 0; head < heads; head++) {
        for (let position = 0; position < length; position++) {
          const valueFrom = ((row * heads + head) * context + position) * headWidth
          const to = (2 * layer + 1) * block + position * width + head * headWidth
          for (let column = 0; column < headWidth; column++) target[to + column] = values[valueFrom + column] ?? 0
        }
      }
    })
  }

  /** Number of elements that `save` writes for `length` positions. */
  savedSize(length: number): number {
    return 2 * this.keys.length * length * this.width
  }

  /** Overwrites row `to` with row `from`. */
  move(from: number, to: number): void {
    const size = this.width * this.context
    this.eachLayer((keys, values) => {
      keys.copyWithin(to * size, from * size, (from + 1) * size)
      values.copyWithin(to * size, from * size, (from + 1) * size)
    })
    const slots = this.context + 1
    this.mask.copyWithin(to * slots, from * slots, (from + 1) * slots)
  }

  /** Changes the number of slots per row, keeping the first `lengths[row]` positions of each row. */
  resize(context: number, lengths: ReadonlyArray<number>): void {
    const saved = lengths.map((length, row) => {
      const target = new Float32Array(this.savedSize(length))
      this.save(row, length, target)
      return target
    })
    this.context = context
    saved.forEach((source, row) => this.load(row, source, lengths[row] ?? 0))
  }

  private write(
    keys: Float32Array,
    values: Float32Array,
    row: number,
    position: number,
    newKeys: Float32Array,
    newValues: Float32Array,
    from: number
  ): void {
    const { context, width } = this
    const { headWidth } = this.shape
    const keyTo = row * width * context + position
    const valueTo = row * width * context + position * headWidth
    for (let column = 0; column < width; column++) {
      keys[keyTo + column * context] = newKeys[from + column] ?? 0
      const head = Math.floor(column / headWidth)
      values[valueTo + head * context * headWidth + (column - head * headWidth)] = newValues[from + column] ?? 0
    }
  }

  private eachLayer(visit: (keys: Float32Array, values: Float32Array, layer: number) => void): void {
    this.keys.forEach((keys, layer) => {
      const values = this.values[layer]
      if (values !== undefined) visit(keys, values, layer)
    })
  }
}
