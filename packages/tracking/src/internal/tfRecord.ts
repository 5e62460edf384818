import { crc32c } from "./crc32c.ts"

/**
 * One record of TensorFlow's TFRecord format: the length of the data as a 64-bit number, its masked checksum, the data,
 * and their masked checksum; all little-endian.
 */
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
