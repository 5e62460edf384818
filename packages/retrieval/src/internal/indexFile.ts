import { closeSync, fstatSync, openSync } from "node:fs"
import { crc32 } from "node:zlib"
import { Option, Schema } from "effect"
import type { Encoder } from "./encoder.ts"
import * as Storage from "./storage.ts"

/** What the reader of an index has to know: where its parts are in the storage. */
export const Layout = Schema.Struct({
  passages: Schema.Int,
  /** The mean number of words of a passage. */
  mean: Schema.Finite,
  /** Where the numbers of words of the passages are, as 32-bit numbers. */
  lengths: Schema.Int,
  pages: Schema.Array(Schema.Tuple([Schema.String, Schema.Int, Schema.Int]))
})
export interface Layout extends Schema.Schema.Type<typeof Layout> {}

/** What the end of an index file says of it. */
const Summary = Schema.Struct({
  /** The format, and the corpus that was indexed. */
  key: Schema.String,
  /** Where the place and the length of each row of the corpus are, as two 64-bit numbers. */
  lines: Schema.Int,
  layout: Layout
})
export interface Summary extends Schema.Schema.Type<typeof Summary> {}

/** Comes first in an index file. */
export const begin = (encoder: Encoder): void => encoder.bytes(signature)

/** Comes last in an index file: the summary, its length and its checksum, so that a file that was cut off is found out. */
export const end = (encoder: Encoder, summary: Summary): void => {
  const text = Buffer.from(encodeSummary(summary))
  encoder.bytes(text)
  encoder.bytes(new Uint8Array(Uint32Array.of(text.length, crc32(text)).buffer))
  encoder.flush()
}

/** What an index file says of itself; null if another version built it or it is damaged. Fails on another file, which must stay. */
export const summaryOf = (file: string): Summary | null => {
  const descriptor = openSync(file, "r")
  try {
    const { size } = fstatSync(descriptor)
    const storage = Storage.inFile(descriptor)
    const head = Buffer.from(storage.read(0, Math.min(size, headLength)))
    if (head.includes(formatWithSqlite)) return null
    if (!head.subarray(0, signature.length).equals(signature)) throw new Error("it does not begin as an index does")
    if (size < signature.length + tailLength) return null
    const [length = 0, checksum] = new Uint32Array(storage.read(size - tailLength, tailLength).buffer)
    if (length + tailLength > size) return null
    const text = storage.read(size - tailLength - length, length)
    return crc32(text) === checksum ? Option.getOrNull(decodeSummary(Buffer.from(text).toString())) : null
  } finally {
    closeSync(descriptor)
  }
}

const signature = Buffer.from("inspo bm25\n")
const tailLength = 8

/** In the first bytes of the indexes of formats 1 to 3, which were SQLite databases. */
const formatWithSqlite = "CREATE TABLE corpus (key TEXT NOT NULL, passages INTEGER NOT NULL)"
const headLength = 4096

const SummaryText = Schema.fromJsonString(Summary)
const encodeSummary = Schema.encodeSync(SummaryText)
const decodeSummary = Schema.decodeUnknownOption(SummaryText)
