import { Effect, FileSystem, Result, Sink, Stream } from "effect"
import type { DatasetError } from "../DatasetError.ts"
import { failure, shownLength } from "./failure.ts"

/** A row as a file holds it, and its number: that of its line, or its place in a Parquet file, from 1. */
export interface Numbered<A> {
  readonly line: number
  readonly row: A
}

/** The values of all lines that are not blank, read as they are needed. */
export const stream = (file: string): Stream.Stream<Numbered<unknown>, DatasetError, FileSystem.FileSystem> =>
  Stream.unwrap(Effect.map(FileSystem.FileSystem, (fs) => fs.stream(file))).pipe(
    Stream.mapError((error) => failure({ file, expected: `a readable file (${error.message})` })),
    Stream.decodeText,
    Stream.splitLines,
    Stream.zipWithIndex,
    Stream.filter(([text]) => text.trim() !== ""),
    Stream.mapEffect(([text, index]) => Effect.fromResult(parse(file, index + 1, text)))
  )

/** Writes one JSON object per line. */
export const write = Effect.fnUntraced(function* (file: string, rows: ReadonlyArray<object>) {
  const fs = yield* FileSystem.FileSystem
  yield* fs
    .writeFileString(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""))
    .pipe(Effect.mapError((error) => failure({ file, expected: `a writable file (${error.message})` })))
})

/** Writes one JSON object per line, in bounded memory. */
export const writeStream = Effect.fnUntraced(function* <R>(file: string, rows: Stream.Stream<object, DatasetError, R>) {
  const fs = yield* FileSystem.FileSystem
  yield* rows.pipe(
    Stream.map((row) => `${JSON.stringify(row)}\n`),
    Stream.encodeText,
    Stream.run(
      Sink.mapError(fs.sink(file), (error) => failure({ file, expected: `a writable file (${error.message})` }))
    )
  )
})

const parse = (file: string, line: number, text: string): Result.Result<Numbered<unknown>, DatasetError> =>
  Result.try({
    try: () => ({ line, row: JSON.parse(line === 1 ? text.replace(/^\uFEFF/u, "") : text) as unknown }),
    catch: () => failure({ file, line, value: text.slice(0, shownLength), expected: "one JSON object per line" })
  })
