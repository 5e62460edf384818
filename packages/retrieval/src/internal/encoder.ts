import type { Storage } from "./storage.ts"

/** Bytes that are appended at once. */
const chunkSize = 1 << 16

/** The most bytes of a whole number. */
const longest = 8

/** Writes whole numbers, in seven bits per byte, and texts; `flush` comes last. */
export class Encoder {
  readonly #storage: Storage
  readonly #chunk = new Uint8Array(chunkSize)
  #length = 0
  #flushed: number

  constructor(storage: Storage, position: number) {
    this.#storage = storage
    this.#flushed = position
  }

  /** The place in the storage of the next byte. */
  get position(): number {
    return this.#flushed + this.#length
  }

  number(value: number): void {
    if (this.#length + longest > chunkSize) this.flush()
    let rest = value
    while (rest >= 128) {
      this.#chunk[this.#length++] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    this.#chunk[this.#length++] = rest
  }

  text(value: string): void {
    const bytes = Buffer.from(value)
    this.number(bytes.length)
    this.bytes(bytes)
  }

  bytes(bytes: Uint8Array): void {
    if (this.#length + bytes.length > chunkSize) this.flush()
    if (bytes.length > chunkSize) {
      this.#storage.append(bytes)
      this.#flushed += bytes.length
    } else {
      this.#chunk.set(bytes, this.#length)
      this.#length += bytes.length
    }
  }

  flush(): void {
    this.#storage.append(this.#chunk.subarray(0, this.#length))
    this.#flushed += this.#length
    this.#length = 0
  }
}
