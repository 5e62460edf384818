import { createHash } from "node:crypto"
import { JsonText, Question, Utf8 } from "@inspo/domain"
import { Effect, FileSystem, Predicate, Result, Stream } from "effect"
import { SearchError } from "../Search.ts"

/** One row of a corpus file: `at` and `length` say where in the file its line is, in bytes. */
export interface Line {
  readonly passage: Question.Passage
  readonly at: number
  readonly length: number
}

/** Bytes read at once, and hashed at either end. */
const chunkSize = 1 << 20

/** What identifies the content of a corpus without reading all of it: size, time of change, and both ends. */
export const fingerprint = Effect.fnUntraced(function* (corpus: string) {
  const fs = yield* FileSystem.FileSystem
  const { mtime, size } = yield* fs.stat(corpus)
  const hash = createHash("sha256")
  const ends = [
    fs.stream(corpus, { bytesToRead: chunkSize }),
    fs.stream(corpus, { offset: size > BigInt(chunkSize) ? size - BigInt(chunkSize) : 0n })
  ]
  yield* Effect.forEach(
    ends,
    Stream.runForEach((bytes) => Effect.sync(() => hash.update(bytes)))
  )
  return JSON.stringify({ size: `${size}`, mtime, hash: hash.digest("hex") })
})

/** Reads a corpus in bounded memory: calls `visit` with every row, `onChunk` with the bytes read so far. */
export const forEachLine = Effect.fnUntraced(function* (
  corpus: string,
  visit: (line: Line) => void,
  onChunk: (bytes: number) => Effect.Effect<void>
) {
  const fs = yield* FileSystem.FileSystem
  let rest = Buffer.alloc(0)
  let at = 0
  let number = 0
  let bytes = 0

  const take = (line: Buffer): Result.Result<void, SearchError> => {
    number++
    const text = Utf8.decode(line)
    if (Result.isFailure(text)) return Result.fail(foreign(corpus, number, text.failure))
    const parsed = parse(text.success)
    if (Result.isFailure(parsed)) return Result.fail(malformed(corpus, number, parsed.failure))
    if (parsed.success !== null) visit({ passage: parsed.success, at, length: line.length })
    return Result.void
  }

  const takeAll = Effect.fnUntraced(function* (chunk: Uint8Array) {
    const buffer = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk])
    let start = 0
    for (let end = buffer.indexOf(newline); end >= 0; end = buffer.indexOf(newline, start)) {
      yield* Effect.fromResult(take(buffer.subarray(start, end)))
      at += end + 1 - start
      start = end + 1
    }
    rest = buffer.subarray(start)
    bytes += chunk.length
    yield* onChunk(bytes)
  })

  yield* Stream.runForEach(fs.stream(corpus, { chunkSize }), takeAll)
  yield* Effect.fromResult(take(rest))
})

/** The passage of one line; null for a blank one. */
export const parse = (line: string): Result.Result<Question.Passage | null, string> => {
  const text = line.startsWith("\uFEFF") ? line.slice(1) : line
  if (text.trim() === "") return Result.succeed(null)
  const json = Result.try(() => JsonText.parse(text))
  if (Result.isFailure(json)) return Result.fail(text.slice(0, shownLength))
  const row = json.success
  if (!Predicate.hasProperty(row, "contents") || !Predicate.isString(row.contents))
    return Result.fail(text.slice(0, shownLength))
  const id = Predicate.hasProperty(row, "id") ? row.id : undefined
  return (Predicate.isString(id) && id !== "") || Predicate.isNumber(id)
    ? Result.succeed(Question.passageFromContents(`${id}`, row.contents))
    : Result.fail(text.slice(0, shownLength))
}

const malformed = (corpus: string, line: number, found: string): SearchError =>
  new SearchError({
    operation: "build",
    reason: `${corpus}:${line} is ${found}; expected a row {"id": …, "contents": "\\"Title\\"\\ntext"}. Fix or remove the line`
  })

const foreign = (corpus: string, line: number, fault: Utf8.Fault): SearchError => {
  const { found, remedy } = Utf8.explain(corpus, fault)
  return new SearchError({
    operation: "build",
    reason: `${corpus}:${line}: ${found}; expected a text in UTF-8. ${remedy}`
  })
}

const newline = 10
const shownLength = 80
