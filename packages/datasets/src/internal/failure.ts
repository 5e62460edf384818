import { FirstIssue, PlainText } from "@inspo/domain"
import type { Schema } from "effect"
import { DatasetError } from "../DatasetError.ts"

/** How much of a value an error shows, in characters. */
export const shownLength = 80

/** A {@link DatasetError} with only the given fields. */
export const failure = (parts: {
  readonly file: string
  readonly line?: number
  readonly field?: string
  readonly value?: string
  readonly expected: string
  readonly cause?: unknown
}): DatasetError =>
  new DatasetError({
    file: parts.file,
    line: parts.line ?? null,
    field: parts.field ?? null,
    value: parts.value ?? null,
    expected: parts.expected,
    ...(parts.cause === undefined ? {} : { cause: parts.cause })
  })

/** The error of a row that does not match its schema. */
export const misfit = (file: string, line: number, row: unknown, { issue }: Schema.SchemaError): DatasetError => {
  const { expected, field, value } = FirstIssue.of(issue, row)
  return failure({
    file,
    line,
    ...(field === "" ? {} : { field }),
    value: value === undefined ? "missing" : PlainText.json(value, shownLength),
    expected: value === undefined ? "a value" : expected
  })
}
