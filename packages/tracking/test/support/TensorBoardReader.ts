/**
 * A second reader of event files, which shares nothing with the writer: checksums bit by bit, and protobuf by hand after
 * TensorFlow's event.proto, summary.proto and tensor.proto.
 */
export interface ReadEvent {
  readonly seconds: number
  readonly step: number
  readonly fileVersion: string | null
  readonly scalars: ReadonlyArray<readonly [tag: string, value: number]>
  readonly texts: ReadonlyArray<readonly [tag: string, text: string]>
}

export const readEvents = (file: Uint8Array): ReadonlyArray<ReadEvent> => {
  const view = new DataView(file.buffer, file.byteOffset, file.length)
  const events: Array<ReadEvent> = []
  let offset = 0
  while (offset < file.length) {
    const length = Number(view.getBigUint64(offset, true))
    verify(file.subarray(offset, offset + 8), view.getUint32(offset + 8, true))
    const data = file.subarray(offset + 12, offset + 12 + length)
    verify(data, view.getUint32(offset + 12 + length, true))
    events.push(readEvent(data))
    offset += 16 + length
  }
  return events
}

const verify = (data: Uint8Array, masked: number): void => {
  const rotated = (masked - 0xa282ead8) >>> 0
  const expected = ((rotated >>> 17) | (rotated << 15)) >>> 0
  if (checksum(data) !== expected) throw new Error("a checksum is wrong")
}

/** CRC-32C by long division, one bit at a time. */
const checksum = (data: Uint8Array): number => {
  let crc = ~0
  for (const byte of data)
    for (let bit = 0; bit < 8; bit++) {
      const isOdd = ((crc ^ (byte >>> bit)) & 1) === 1
      crc >>>= 1
      if (isOdd) crc ^= 0x82f63b78
    }
  return ~crc >>> 0
}

interface Field {
  readonly number: number
  readonly varint: number
  readonly bytes: Uint8Array
}

const fields = (message: Uint8Array): ReadonlyArray<Field> => {
  const found: Array<Field> = []
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = message[at++] ?? 0
      value += (byte & 127) * shift
      if (byte < 128) return value
    }
  }
  while (at < message.length) {
    const key = varint()
    const wire = key & 7
    if (wire === 0) found.push({ number: key >> 3, varint: varint(), bytes: new Uint8Array() })
    else {
      const length = wire === 1 ? 8 : wire === 5 ? 4 : varint()
      found.push({ number: key >> 3, varint: 0, bytes: message.subarray(at, at + length) })
      at += length
    }
  }
  return found
}

const one = (message: Uint8Array, number: number): Uint8Array =>
  fields(message).find((field) => field.number === number)?.bytes ?? new Uint8Array()

const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length)

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

const readEvent = (data: Uint8Array): ReadEvent => {
  const all = fields(data)
  const version = all.find(({ number }) => number === 3)
  const values = fields(one(data, 5)).map(({ bytes }) => bytes)
  return {
    seconds: view(one(data, 1)).getFloat64(0, true),
    step: all.find(({ number }) => number === 2)?.varint ?? 0,
    fileVersion: version === undefined ? null : text(version.bytes),
    scalars: values.flatMap((value) => {
      const float = fields(value).find(({ number }) => number === 2)
      return float === undefined ? [] : [[text(one(value, 1)), view(float.bytes).getFloat32(0, true)] as const]
    }),
    texts: values.flatMap((value) =>
      text(one(one(one(value, 9), 1), 1)) === "text"
        ? [[text(one(value, 1)), text(one(one(value, 8), 8))] as const]
        : []
    )
  }
}
