import { PlainText } from "@inspo/domain"
import { Array as Arr, Effect, FileSystem, type PlatformError, Schema } from "effect"
import { fileFailure } from "../Failure.ts"
import * as Regular from "./Regular.ts"

/** Writes a whole file or leaves the old one: first beside it, then in its place. */
export const replaceFile = (file: string, text: string) =>
  Effect.mapError(replacement(file, text), (cause) => fileFailure(file, "written", cause))

/** The same, failing as the file system does. Not interruptible, so that the next call finds no partial file. */
export const replacement = Effect.fnUntraced(function* (file: string, text: string) {
  const fs = yield* FileSystem.FileSystem
  // A link with that name would redirect the text to another file.
  yield* fs.remove(`${file}.tmp`, { force: true })
  yield* fs.writeFileString(`${file}.tmp`, text, { flag: "wx" })
  yield* fs.rename(`${file}.tmp`, file)
}, Effect.uninterruptible)

export const appendFile = Effect.fnUntraced(
  function* (file: string, text: string) {
    const fs = yield* FileSystem.FileSystem
    yield* Regular.assertRegular(file)
    yield* fs.writeFileString(file, text, { flag: "a" })
  },
  (writing, file) => Effect.mapError(writing, (cause) => fileFailure(file, "written", cause))
)

/**
 * Opens a file for appending until the scope ends, and returns the function that appends. After `replaceFile`, only what
 * was opened since writes to the new file: a writer that was frozen and replaced by another one cannot add to it.
 */
export const appender = Effect.fnUntraced(function* (file: string) {
  const failed = (cause: PlatformError.PlatformError) => fileFailure(file, "written", cause)
  const fs = yield* FileSystem.FileSystem
  yield* Effect.mapError(Regular.assertRegular(file), failed)
  const handle = yield* Effect.mapError(fs.open(file, { flag: "a" }), failed)
  return (text: string) => Effect.mapError(handle.writeAll(encoder.encode(text)), failed)
})

const encoder = new TextEncoder()

/** Decodes the JSON lines of a file, none where there is no file; a line that a crash cut off is left out. */
export const readJsonLines = <A>(file: string, row: Schema.ConstraintDecoder<A>) => {
  const decode = Schema.decodeUnknownOption(Schema.fromJsonString(row))
  return Effect.map(
    Effect.mapError(Regular.readIfThere(file), (cause) => fileFailure(file, "read", cause)),
    (text) => (text === null ? [] : Arr.getSomes(text.split("\n").map((line) => decode(line))))
  )
}

export const jsonLines = (rows: ReadonlyArray<unknown>): string => rows.map(PlainText.jsonLine).join("")
