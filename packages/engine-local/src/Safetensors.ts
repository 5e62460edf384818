import { Result, Schema } from "effect"

/** A named float32 tensor, row-major. */
interface NamedTensor {
  readonly name: string
  readonly shape: ReadonlyArray<number>
  readonly data: Float32Array
}

/** What one file holds. */
export interface Content {
  readonly tensors: ReadonlyArray<NamedTensor>
  readonly metadata: Readonly<Record<string, string>>
}

class SafetensorsError extends Schema.TaggedError<SafetensorsError>()("SafetensorsError", {
  reason: Schema.String
}) {
  override get message() {
    return `safetensors: ${this.reason}`
  }
}

/**
 * Writes the safetensors format: the header's length as 8 little-endian bytes, a JSON header padded with spaces to a
 * multiple of 8, then the tensors' bytes in the order given.
 */
export const encode = (content: Content): Uint8Array => {
  let end = 0
  const entries = content.tensors.map(({ name, shape, data }) => {
    const begin = end
    end += data.byteLength
    return [name, { dtype: "F32", shape, data_offsets: [begin, end] }] as const
  })
  const json = JSON.stringify({ __metadata__: content.metadata, ...Object.fromEntries(entries) })
  const header = new TextEncoder().encode(json)
  const headerLength = Math.ceil(header.length / 8) * 8
  const bytes = new Uint8Array(8 + headerLength + end)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(headerLength), true)
  bytes.fill(0x20, 8, 8 + headerLength)
  bytes.set(header, 8)
  let at = 8 + headerLength
  for (const { data } of content.tensors) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at)
    at += data.byteLength
  }
  return bytes
}

/** Reads what {@link encode} and other writers of float32 tensors give; tensors come back in file order. */
export const decode = (bytes: Uint8Array): Result.Result<Content, SafetensorsError> => {
  const fail = (reason: string) => Result.fail(new SafetensorsError({ reason }))
  if (bytes.length < 8) return fail(`${bytes.length} bytes are too few for a header`)
  const headerLength = Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true))
  const start = 8 + headerLength
  if (start > bytes.length) return fail(`the header claims ${headerLength} bytes but the file has ${bytes.length}`)
  const header = decodeHeader(new TextDecoder().decode(bytes.subarray(8, start)))
  if (Result.isFailure(header)) return fail(`the header is not a JSON object: ${header.failure.message}`)
  const { __metadata__ = {}, ...rest } = header.success
  const metadata = decodeMetadata(__metadata__)
  if (Result.isFailure(metadata)) return fail(`the metadata must be texts: ${metadata.failure.message}`)
  const entries = decodeEntries(rest)
  if (Result.isFailure(entries)) return fail(`a tensor's entry does not fit: ${entries.failure.message}`)
  const tensors: Array<NamedTensor> = []
  const inFileOrder = Object.entries(entries.success).sort(([, a], [, b]) => a.data_offsets[0] - b.data_offsets[0])
  for (const [name, entry] of inFileOrder) {
    const [begin, end] = entry.data_offsets
    const size = entry.shape.reduce((product, length) => product * length, 1)
    if (end - begin !== 4 * size || start + end > bytes.length) {
      return fail(`tensor ${name} of shape [${entry.shape.join(", ")}] cannot be at bytes ${begin} to ${end}`)
    }
    // Copied, since a view would need an offset that is a multiple of 4.
    const data = new Float32Array(size)
    new Uint8Array(data.buffer).set(bytes.subarray(start + begin, start + end))
    tensors.push({ name, shape: entry.shape, data })
  }
  return Result.succeed({ tensors, metadata: metadata.success })
}

const Offset = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const decodeHeader = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

const decodeMetadata = Schema.decodeUnknownResult(Schema.Record(Schema.String, Schema.String))

const decodeEntries = Schema.decodeUnknownResult(
  Schema.Record(
    Schema.String,
    Schema.Struct({
      dtype: Schema.Literal("F32"),
      shape: Schema.Array(Offset),
      data_offsets: Schema.Tuple([Offset, Offset])
    })
  )
)
