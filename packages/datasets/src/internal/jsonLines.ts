import { JsonText, PlainText, Utf8 } from "@inspo/domain"
import { Effect, FileSystem, Result, Sink, Stream } from "effect"
import type { DatasetError } from "../DatasetError.ts"
import { failure, shownLength } from "./failure.ts"

/** A row of a file and its number, from 1: its line, or its place in a Parquet file. */
export interface Numbered<A> {
  readonly line: number
  readonly row: A
}

/** The values of all lines that are not blank, or their errors, read on demand. */
export const results = (
  file: string
): Stream.Stream<Result.Result<Numbered<unknown>, DatasetError>, DatasetError, FileSystem.FileSystem> =>
  Stream.unwrap(Effect.map(FileSystem.FileSystem, (fs) => fs.stream(file))).pipe(
    Stream.mapError((cause) => failure({ file, expected: `a readable file (${cause.message})`, cause })),
    Utf8.lines,
    Stream.filter(({ text }) => Result.isFailure(text) || text.success.trim() !== ""),
    Stream.map(({ line, text }) =>
      Result.flatMap(
        Result.mapError(text, (fault) => foreign(file, line, fault)),
        (known) => parse(file, line, known)
      )
    )
  )

/** The values of all lines that are not blank; fails at the first malformed line. */
export const stream = (file: string): Stream.Stream<Numbered<unknown>, DatasetError, FileSystem.FileSystem> =>
  Stream.mapEffect(results(file), Effect.fromResult)

/** Writes one JSON object per line. */
export const write = Effect.fnUntraced(function* (file: string, rows: ReadonlyArray<object>) {
  const fs = yield* FileSystem.FileSystem
  yield* fs
    .writeFileString(file, rows.map(PlainText.jsonLine).join(""))
    .pipe(Effect.mapError((cause) => failure({ file, expected: `a writable file (${cause.message})`, cause })))
})

/** Writes one JSON object per line, in bounded memory. */
export const writeStream = Effect.fnUntraced(function* <R>(file: string, rows: Stream.Stream<object, DatasetError, R>) {
  const fs = yield* FileSystem.FileSystem
  yield* rows.pipe(
    Stream.map(PlainText.jsonLine),
    Stream.encodeText,
    Stream.run(
      Sink.mapError(fs.sink(file), (cause) => failure({ file, expected: `a writable file (${cause.message})`, cause }))
    )
  )
})

const parse = (file: string, line: number, text: string): Result.Result<Numbered<unknown>, DatasetError> =>
  Result.try({
    try: () => ({ line, row: JsonText.parse(line === 1 ? text.replace(/^\uFEFF/u, "") : text) }),
    catch: (cause) =>
      failure({ file, line, value: text.slice(0, shownLength), expected: "one JSON object per line", cause })
  })

const foreign = (file: string, line: number, fault: Utf8.Fault): DatasetError => {
  const { found, remedy } = Utf8.explain(file, fault)
  return failure({ file, line, value: found, expected: `a text in UTF-8. ${remedy}` })
}
