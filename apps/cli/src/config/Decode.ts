import { ConfigError } from "@inspo/coevolution/ConfigError"
import { RunConfig } from "@inspo/config/RunConfig"
import { PlainText } from "@inspo/domain"
import { Predicate, Result, Schema, SchemaIssue } from "effect"

/** A whole config; its first fault by the dotted name of the setting, with what `remedy` says of that. */
export const decode = (value: unknown, remedy: (field: string) => string): Result.Result<RunConfig, ConfigError> =>
  Schema.decodeUnknownResult(RunConfig, { onExcessProperty: "error", reportInput: true })(value).pipe(
    Result.mapError((error) => invalidValue(error, value, remedy))
  )

/** A value as an error shows it. */
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
