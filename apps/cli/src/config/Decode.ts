import { ConfigError } from "@inspo/coevolution/ConfigError"
import { RunConfig } from "@inspo/config/RunConfig"
import { PlainText } from "@inspo/domain"
import { Predicate, Result, Schema, SchemaIssue } from "effect"

/** Decodes a complete config; fails with the first invalid setting, by its dotted name, and its `remedy`. */
export const decode = (value: unknown, remedy: (field: string) => string): Result.Result<RunConfig, ConfigError> =>
  Schema.decodeUnknownResult(RunConfig, { onExcessProperty: "error", reportInput: true })(value).pipe(
    Result.mapError((error) => invalidValue(error, value, remedy))
  )

/** A value as text for an error. */
export const show = (value: unknown): string => (value === undefined ? "missing" : PlainText.json(value, 1000))

const invalidValue = (error: Schema.SchemaError, whole: unknown, remedy: (field: string) => string): ConfigError => {
  const issue = SchemaIssue.makeFormatterStandardSchemaV1()(error.issue).issues[0]
  const path = (issue?.path ?? []).map((key) => String(typeof key === "object" ? key.key : key))
  const value = path.reduce<unknown>((node, key) => (Predicate.hasProperty(node, key) ? node[key] : undefined), whole)
  const field = path.join(".")
  return new ConfigError({
    field,
    value: show(value),
    expected: expectation(issue?.message ?? "another value"),
    remedy: remedy(field)
  })
}

const expectation = (message: string): string => {
  if (message.startsWith("Unexpected key")) return "no such setting"
  const [before = message] = message.split(", got ")
  return before.replace(/^Expected /u, "").replaceAll(" | ", " or ")
}
