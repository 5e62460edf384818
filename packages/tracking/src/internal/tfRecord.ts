/** A record of TensorFlow's TFRecord: length as a 64-bit number, its masked checksum, the data, and theirs; little-endian. */
export const tfRecord = (data: Uint8Array): Uint8Array<ArrayBuffer> => {
  const record = new Uint8Array(headerLength + data.length + 4)
  const view = new DataView(record.buffer)
  view.setBigUint64(0, BigInt(data.length), true)
  view.setUint32(8, masked(record.subarray(0, 8)), true)
  record.set(data, headerLength)
  view.setUint32(headerLength + data.length, masked(data), true)
  return record
}

const headerLength = 12

/** A checksum turned and shifted, so that one of data that holds checksums stays a good one. */
const masked = (data: Uint8Array): number => {
  const crc = crc32c(data)
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
}

/** The CRC-32C checksum (Castagnoli; RFC 3720, appendix B.4) of some bytes, as an unsigned 32-bit number. */
export const crc32c = (bytes: Uint8Array): number => {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (table[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  return ~crc >>> 0
}

/** The checksum of each byte alone, by the reflected polynomial. */
const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  return crc
})
