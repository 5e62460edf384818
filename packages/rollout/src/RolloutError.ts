import { Schema } from "effect"

/** The episodes could not be run: `field`, a setting or an answer of the engine, is not as `expected`. */
export class RolloutError extends Schema.TaggedError<RolloutError>()("RolloutError", {
  field: Schema.String,
  value: Schema.String,
  expected: Schema.String,
  remedy: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    const remedy = this.remedy === undefined ? "" : `; ${this.remedy}`
    return `rollout: ${this.field} is ${this.value}, expected ${this.expected}${remedy}`
  }
}
