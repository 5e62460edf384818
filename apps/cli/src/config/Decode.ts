import { ConfigError } from "@inspo/coevolution"
import { RunConfig } from "@inspo/config"
import { FirstIssue, PlainText } from "@inspo/domain"
import { Result, Schema } from "effect"

/** Decodes a complete config; fails with the first invalid setting, by its dotted name, and its `remedy`. */
export const decode = (value: unknown, remedy: (field: string) => string): Result.Result<RunConfig, ConfigError> =>
  Schema.decodeUnknownResult(RunConfig, { onExcessProperty: "error", reportInput: true })(value).pipe(
    Result.mapError((error) => invalidValue(error, value, remedy))
  )

export const show = (value: unknown): string => (value === undefined ? "missing" : PlainText.json(value, 1000))

const invalidValue = (
  { issue }: Schema.SchemaError,
  whole: unknown,
  remedy: (field: string) => string
): ConfigError => {
  const { expected, field, value } = FirstIssue.of(issue, whole)
  return new ConfigError({
    field,
    value: show(value),
    expected: expected.startsWith("Unexpected key") ? "no such setting" : expected.replaceAll(" | ", " or "),
    remedy: remedy(field)
  })
}
