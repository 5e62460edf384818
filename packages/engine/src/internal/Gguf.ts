import { Result } from "effect"

/** The metadata of a model in the header of a GGUF file, by key. */
export type Metadata = ReadonlyMap<string, Value>
export type Value = number | bigint | boolean | string | ReadonlyArray<Value>

/** The bytes are the start of a longer header. */
export const incomplete = "it ends within its header"

/** Reads the metadata of GGUF 2 or 3 from its first bytes: fails with {@link incomplete} if more are needed, else with the reason. */
export const parse = (bytes: Uint8Array): Result.Result<Metadata, string> => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const forward = (size: number): number => {
    const from = at
    at += size
    return from
  }
  const uint32 = () => view.getUint32(forward(4), true)
  const size = () => Number(view.getBigUint64(forward(8), true))
  const text = (length: number): string => {
    if (at + length > bytes.length) throw new RangeError(incomplete)
    return decoder.decode(bytes.subarray(at, forward(length) + length))
  }
  const value = (type: number): Value => {
    if (type === 8) return text(size())
    if (type === 9) {
      const of = uint32()
      const list: Array<Value> = []
      for (let left = size(); left > 0; left--) list.push(value(of))
      return list
    }
    const scalar = scalars[type]
    if (scalar === undefined) throw new TypeError(`it holds a value of the unknown type ${type}`)
    return scalar.read(view, forward(scalar.size))
  }
  try {
    if (text(4) !== "GGUF") return Result.fail("it does not begin with GGUF")
    const version = uint32()
    if (version !== 2 && version !== 3) return Result.fail(`its version is ${version}, expected 2 or 3`)
    size() // of the list of tensors, which follows
    const metadata = new Map<string, Value>()
    for (let left = size(); left > 0; left--) metadata.set(text(size()), value(uint32()))
    return Result.succeed(metadata)
  } catch (error) {
    // A DataView throws this for a value beyond its end.
    if (error instanceof RangeError) return Result.fail(incomplete)
    if (error instanceof TypeError) return Result.fail(error.message)
    throw error
  }
}

const decoder = new TextDecoder()

interface Scalar {
  readonly size: number
  readonly read: (view: DataView, at: number) => Value
}

/** By type id; 8 is text and 9 a list. */
const scalars: Readonly<Record<number, Scalar>> = {
  0: { size: 1, read: (view, at) => view.getUint8(at) },
  1: { size: 1, read: (view, at) => view.getInt8(at) },
  2: { size: 2, read: (view, at) => view.getUint16(at, true) },
  3: { size: 2, read: (view, at) => view.getInt16(at, true) },
  4: { size: 4, read: (view, at) => view.getUint32(at, true) },
  5: { size: 4, read: (view, at) => view.getInt32(at, true) },
  6: { size: 4, read: (view, at) => view.getFloat32(at, true) },
  7: { size: 1, read: (view, at) => view.getUint8(at) !== 0 },
  10: { size: 8, read: (view, at) => view.getBigUint64(at, true) },
  11: { size: 8, read: (view, at) => view.getBigInt64(at, true) },
  12: { size: 8, read: (view, at) => view.getFloat64(at, true) }
}
