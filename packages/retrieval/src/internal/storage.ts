import { readSync, writeSync } from "node:fs"

/** Bytes that are appended, and read at any place. */
export interface Storage {
  readonly append: (bytes: Uint8Array) => void
  /** A copy; fails where fewer bytes are left. */
  readonly read: (at: number, length: number) => Uint8Array<ArrayBuffer>
}

export const inMemory = (): Storage => {
  let content = new Uint8Array(1 << 10)
  let size = 0
  return {
    append: (bytes) => {
      if (size + bytes.length > content.length) {
        const larger = new Uint8Array(2 * (size + bytes.length))
        larger.set(content)
        content = larger
      }
      content.set(bytes, size)
      size += bytes.length
    },
    read: (at, length) => {
      if (at + length > size) throw ends(at, length)
      return content.slice(at, at + length)
    }
  }
}

/** An open file, with the bytes it has. */
export const inFile = (descriptor: number): Storage => ({
  append: (bytes) => {
    for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done)
  },
  read: (at, length) => {
    const bytes = new Uint8Array(length)
    for (let done = 0; done < length;) {
      const read = readSync(descriptor, bytes, done, length - done, at + done)
      if (read === 0) throw ends(at, length)
      done += read
    }
    return bytes
  }
})

const ends = (at: number, length: number) => new Error(`it ends before byte ${at + length}; it was changed or cut off`)
