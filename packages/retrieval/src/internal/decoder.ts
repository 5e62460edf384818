import type { Storage } from "./storage.ts"

/** Bytes that are read at once. */
const chunkSize = 1 << 14

/** Reads what {@link Encoder} wrote, from a place to `end`. */
export class Decoder {
  readonly #storage: Storage
  readonly #end: number
  #chunk: Buffer<ArrayBuffer> = Buffer.alloc(0)
  #start: number
  #next = 0

  constructor(storage: Storage, start: number, end: number) {
    this.#storage = storage
    this.#start = start
    this.#end = end
  }

  get position(): number {
    return this.#start + this.#next
  }

  get isAtEnd(): boolean {
    return this.position >= this.#end
  }

  seek(position: number): void {
    this.#next = position - this.#start
    if (this.#next >= 0 && this.#next <= this.#chunk.length) return
    this.#chunk = this.#chunk.subarray(0, 0)
    this.#start = position
    this.#next = 0
  }

  number(): number {
    let byte = this.#byte()
    if (byte < 128) return byte
    let value = byte - 128
    for (let unit = 128; byte >= 128; unit *= 128) {
      byte = this.#byte()
      value += (byte & 127) * unit
    }
    return value
  }

  text(): string {
    const length = this.number()
    if (this.#next + length > this.#chunk.length) this.#fill(length)
    const text = this.#chunk.toString("utf8", this.#next, this.#next + length)
    this.#next += length
    return text
  }

  #byte(): number {
    if (this.#next >= this.#chunk.length) this.#fill(1)
    return this.#chunk[this.#next++] ?? 0
  }

  /** Reads on from the place of the next byte, at least `length` bytes. */
  #fill(length: number): void {
    this.#start += this.#next
    this.#next = 0
    const bytes = this.#storage.read(this.#start, Math.max(length, Math.min(chunkSize, this.#end - this.#start)))
    this.#chunk = Buffer.from(bytes.buffer)
  }
}
