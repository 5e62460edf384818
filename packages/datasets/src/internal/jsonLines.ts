import { Effect, FileSystem, Predicate, Result, Schema, SchemaIssue, Stream } from "effect"
import { DatasetError } from "../DatasetError.ts"

/** A decoded row and the number of its line, from 1. */
export interface Numbered<A> {
  readonly line: number
  readonly row: A
}

/** Decodes every line that is not blank. A file without any is an error. */
export const read = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownResult(schema)
  return Effect.fnUntraced(function* (file: string) {
    const fs = yield* FileSystem.FileSystem
    const lines = yield* fs.stream(file).pipe(
      Stream.decodeText,
      Stream.splitLines,
      Stream.runCollect,
      Effect.mapError((error) => failure({ file, expected: `a readable file (${error.message})` }))
    )
    const rows: Array<Numbered<S["Type"]>> = []
    for (const [index, text] of lines.entries()) {
      if (text.trim() === "") continue
      const line = index + 1
      const json = Result.try(() => JSON.parse(index === 0 ? text.replace(/^\uFEFF/u, "") : text) as unknown)
      if (Result.isFailure(json)) {
        return yield* failure({ file, line, value: text.slice(0, shownLength), expected: "one JSON object per line" })
      }
      const row = decode(json.success)
      if (Result.isFailure(row)) return yield* misfit(file, line, json.success, row.failure)
      rows.push({ line, row: row.success })
    }
    return rows.length > 0 ? rows : yield* failure({ file, expected: "at least one row; the file is empty" })
  })
}

/** Writes one JSON object per line. */
export const write = Effect.fnUntraced(function* (file: string, rows: ReadonlyArray<object>) {
  const fs = yield* FileSystem.FileSystem
  yield* fs
    .writeFileString(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""))
    .pipe(Effect.mapError((error) => failure({ file, expected: `a writable file (${error.message})` })))
})

/** A {@link DatasetError} of which only the given parts are known. */
export const failure = (parts: {
  readonly file: string
  readonly line?: number
  readonly field?: string
  readonly value?: string
  readonly expected: string
}): DatasetError =>
  new DatasetError({
    file: parts.file,
    line: parts.line ?? null,
    field: parts.field ?? null,
    value: parts.value ?? null,
    expected: parts.expected
  })

const misfit = (file: string, line: number, row: unknown, error: Schema.SchemaError): DatasetError => {
  const [issue] = formatIssues(error.issue).issues
  const path = (issue?.path ?? []).map((key) => (typeof key === "object" ? key.key : key))
  const value = path.reduce<unknown>(
    (parent, key) => (Predicate.hasProperty(parent, key) ? parent[key] : undefined),
    row
  )
  return failure({
    file,
    line,
    ...(path.length > 0 ? { field: path.map(String).join(".") } : {}),
    value: value === undefined ? "missing" : JSON.stringify(value).slice(0, shownLength),
    expected: value === undefined ? "a value" : (issue?.message ?? error.message).replace(/^Expected /u, "")
  })
}

const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1()

const shownLength = 80
