import { Problem } from "@inspo/domain"
import { Schema } from "effect"

/** An invalid config value: the field, its value, the expected value and how to fix it. */
export class ConfigError extends Schema.TaggedError<ConfigError>()("ConfigError", {
  ...Problem.fields,
  remedy: Schema.String
}) {
  override get message() {
    return `config: ${Problem.words(this)}`
  }
}

/** A limit in dollars cannot be enforced, since the price of the section's model is unknown. */
export const unknownPrice = (section: "policy" | "proposer" | "judge", limit: number): ConfigError =>
  new ConfigError({
    field: "budget.usd",
    value: String(limit),
    expected: `null, because the price of the ${section}'s model is unknown`,
    remedy: "Set its prices in budget.prices, or limit budget.tokens instead."
  })
