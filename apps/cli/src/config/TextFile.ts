import { Utf8 } from "@inspo/domain"
import { Effect, FileSystem, type PlatformError, Result } from "effect"
import { type UsageError, usageError } from "../Failure.ts"

/** The text of a file that the user names, without a byte order mark; fails with the position of the first byte that is not UTF-8. */
export const readText = Effect.fnUntraced(function* (
  file: string
): Effect.fn.Return<string, PlatformError.PlatformError | UsageError, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const bytes = yield* fs.readFile(file)
  const text = Utf8.decode(bytes)
  if (Result.isSuccess(text)) return text.success.replace(/^\uFEFF/u, "")
  const { at, byte } = text.failure
  const before = bytes.subarray(0, at)
  const line = before.reduce((lines, one) => (one === lineFeed ? lines + 1 : lines), 1)
  return yield* notUtf8(file, line, { at: at - before.lastIndexOf(lineFeed) - 1, byte })
})

/** The same; a file that cannot be read is a usage error, in which `what` names the file. */
export const readNamed = (file: string, what = file, remedy = "Check the path.") =>
  Effect.catchTag(readText(file), "PlatformError", (cause) =>
    Effect.fail(usageError(`${what} cannot be read (${cause.reason._tag}). ${remedy}`, cause))
  )

/** Why a line of a file is invalid, with the position in the line. */
export const notUtf8 = (file: string, line: number, fault: Utf8.Fault): UsageError => {
  const { found, remedy } = Utf8.explain(file, fault)
  return usageError(`${file}:${line}: ${found}; expected a text in UTF-8. ${remedy}`)
}

const lineFeed = 10
