import { Decoder } from "./decoder.ts"
import type { Encoder } from "./encoder.ts"
import type { Storage } from "./storage.ts"

/** Postings that are read together. */
export const blockSize = 128

/** Where the postings of a word are: those of `holding` passages, in ascending order, then the table of their blocks. */
export interface Extent {
  readonly holding: number
  readonly at: number
  /** Bytes of the postings without the table. */
  readonly length: number
}

/**
 * Writes the postings of one word. A posting is the distance to the passage before it and the frequency, which is left out
 * where it is 1. The table has the last passage of each block but the last, and where the next block begins.
 */
export const writer = (encoder: Encoder) => {
  const at = encoder.position
  const table: Array<number> = []
  let holding = 0
  let last = 0
  return {
    add: (passage: number, frequency: number): void => {
      if (holding > 0 && holding % blockSize === 0) table.push(last, encoder.position - at)
      encoder.number(2 * (passage - last) + (frequency === 1 ? 0 : 1))
      if (frequency !== 1) encoder.number(frequency)
      last = passage
      holding++
    },
    end: (): Extent => {
      const length = encoder.position - at
      if (table.length > 0) encoder.bytes(new Uint8Array(Uint32Array.from(table).buffer))
      return { holding, at, length }
    }
  }
}

/** Reads the postings of one word block by block. */
export class Reader {
  /** The passages of the present block and the frequencies of the word in them. */
  readonly passages = new Uint32Array(blockSize)
  readonly frequencies = new Uint32Array(blockSize)
  length = 0
  readonly blocks: number
  readonly #decoder: Decoder
  readonly #extent: Extent
  readonly #table: Uint32Array
  #block = -1
  #next = 0

  constructor(storage: Storage, extent: Extent) {
    const { at, holding, length } = extent
    this.#extent = extent
    this.blocks = Math.ceil(holding / blockSize)
    this.#decoder = new Decoder(storage, at, at + length)
    this.#table = new Uint32Array(storage.read(at + length, 8 * (this.blocks - 1)).buffer)
  }

  load(block: number): void {
    const before = 2 * (block - 1)
    let passage = this.#table[before] ?? 0
    this.#block = block
    this.#next = 0
    this.length = Math.min(blockSize, this.#extent.holding - block * blockSize)
    this.#decoder.seek(this.#extent.at + (this.#table[before + 1] ?? 0))
    for (let place = 0; place < this.length; place++) {
      const step = this.#decoder.number()
      passage += step >>> 1
      this.passages[place] = passage
      this.frequencies[place] = step % 2 === 0 ? 1 : this.#decoder.number()
    }
  }

  /** How often a passage holds the word; passages have to be asked for in ascending order. */
  frequencyIn(passage: number): number {
    let block = Math.max(0, this.#block)
    while (block < this.blocks - 1 && (this.#table[2 * block] ?? 0) < passage) block++
    if (block !== this.#block) this.load(block)
    while (this.#next < this.length && (this.passages[this.#next] ?? 0) < passage) this.#next++
    return this.#next < this.length && this.passages[this.#next] === passage ? (this.frequencies[this.#next] ?? 0) : 0
  }
}
