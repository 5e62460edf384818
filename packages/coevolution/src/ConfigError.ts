import { Schema } from "effect"

/** A config value that cannot be used: which field, what it is, what was expected and how to mend it. */
export class ConfigError extends Schema.TaggedError<ConfigError>()("ConfigError", {
  field: Schema.String,
  value: Schema.String,
  expected: Schema.String,
  remedy: Schema.String
}) {
  override get message() {
    return `config: ${this.field} is ${this.value}, expected ${this.expected}. ${this.remedy}`
  }
}

/** A limit in dollars cannot be kept, since nobody knows what the model of that section costs. */
export const unknownPrice = (section: "proposer" | "judge", limit: number): ConfigError =>
  new ConfigError({
    field: "budget.usd",
    value: String(limit),
    expected: `null, because what the ${section}'s model costs is not known`,
    remedy: "Give its prices under budget.prices, or limit budget.tokens instead."
  })
