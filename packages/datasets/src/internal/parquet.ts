import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib"
import { Array, Effect, FileSystem, Stream } from "effect"
import {
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  snappyUncompress
} from "hyparquet"
import { fileWriter, parquetWriteRows } from "hyparquet-writer"
import { DatasetError } from "../DatasetError.ts"
import { failure } from "./failure.ts"
import type { Numbered } from "./jsonLines.ts"
import { plain } from "./plain.ts"

/** Opens a Parquet file for the names of its columns and its rows, which are read row group by row group. */
export const open = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const { size } = yield* Effect.mapError(fs.stat(file), (cause) =>
    failure({ file, expected: `a readable file (${cause.message})`, cause })
  )
  if (size === 0n) return yield* failure({ file, expected: "a Parquet file; the file is empty" })
  const context = yield* Effect.context<FileSystem.FileSystem>()
  const buffer: AsyncBuffer = {
    byteLength: Number(size),
    slice: (start, end) => Effect.runPromiseWith(context)(readBytes(file, start, end ?? Number(size)))
  }
  const metadata = yield* attempt(file, () => parquetMetadataAsync(buffer))
  return {
    columns: parquetSchema(metadata).children.map(({ element }) => element.name),
    rows: (columns: ReadonlyArray<string>) => rowsOf(file, buffer, metadata, columns)
  }
})

/** What a file holds: names of columns, and the tree of their types, parents first. */
export interface Schema {
  readonly columns: ReadonlyArray<string>
  readonly elements: FileMetaData["schema"]
}

/** Writes rows in bounded memory, row group by row group. */
export const write = Effect.fnUntraced(function* <R>(
  file: string,
  rows: Stream.Stream<Record<string, unknown>, DatasetError, R>,
  { columns, elements }: Schema
) {
  const iterable = yield* Stream.toAsyncIterableEffect(rows)
  yield* Effect.tryPromise({
    try: async () =>
      parquetWriteRows({
        writer: fileWriter(file),
        rows: iterable,
        columns: columns.map((name) => ({ name })),
        schema: [...elements],
        rowGroupSize
      }),
    catch: (cause) =>
      cause instanceof DatasetError
        ? cause
        : failure({
            file,
            expected: `a writable file (${cause instanceof Error ? cause.message : String(cause)})`,
            cause
          })
  })
})

const rowGroupSize = 10_000

const rowsOf = (
  file: string,
  buffer: AsyncBuffer,
  metadata: FileMetaData,
  columns: ReadonlyArray<string>
): Stream.Stream<Numbered<unknown>, DatasetError> => {
  const ends = Array.scan(metadata.row_groups, 0, (end, group) => end + Number(group.num_rows))
  return Stream.fromIterable(Array.zip(ends, ends.slice(1))).pipe(
    Stream.mapEffect(([rowStart, rowEnd]) =>
      Effect.map(
        attempt(file, () =>
          parquetReadObjects({
            file: buffer,
            metadata,
            rowStart,
            rowEnd,
            columns: [...columns],
            compressors: compressors()
          })
        ),
        (rows) => rows.map((row, index): Numbered<unknown> => ({ line: rowStart + index + 1, row: plain(row) }))
      )
    ),
    Stream.flattenIterable
  )
}

const readBytes = (file: string, start: number, end: number) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const parts = yield* Stream.runCollect(fs.stream(file, { offset: start, bytesToRead: end - start }))
    const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
    parts.reduce((at, part) => {
      bytes.set(part, at)
      return at + part.length
    }, 0)
    return bytes.buffer
  })

const attempt = <A>(file: string, act: () => Promise<A>): Effect.Effect<A, DatasetError> =>
  Effect.tryPromise({
    try: act,
    catch: (cause) =>
      failure({
        file,
        expected: `a whole Parquet file (${cause instanceof Error ? cause.message : String(cause)}); write or copy it again`,
        cause
      })
  })

/** The most bytes of a page, and of all pages of a row group: a hostile file cannot claim more. */
const largestPage = 2 ** 28
const largestGroup = 2 ** 30

/** Decompressors for one row group. Their output is limited to the size in the header of a page, and to the limits above. */
const compressors = (): Compressors => {
  let left = largestGroup
  const within = (decompress: (input: Uint8Array, size: number) => Uint8Array) => (input: Uint8Array, size: number) => {
    if (size > largestPage) throw new RangeError(`a page of ${size} bytes, expected at most ${largestPage}`)
    left -= size
    if (left < 0) throw new RangeError(`a row group of more than ${largestGroup} bytes; write smaller ones`)
    return decompress(input, size)
  }
  return {
    SNAPPY: within((input, size) => {
      const output = new Uint8Array(size)
      snappyUncompress(input, output)
      return output
    }),
    GZIP: within((input, size) => gunzipSync(input, atMost(size))),
    BROTLI: within((input, size) => brotliDecompressSync(input, atMost(size))),
    ZSTD: within((input, size) => zstdDecompressSync(input, atMost(size)))
  }
}

const atMost = (size: number) => ({ maxOutputLength: Math.max(1, size) })
