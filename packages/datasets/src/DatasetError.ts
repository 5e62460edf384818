import { InvalidInput } from "@inspo/domain"
import { Schema } from "effect"

/** A data file is invalid. `line` counts from 1, null for the whole file; `value` shows what `field` holds, as JSON. */
export class DatasetError extends Schema.TaggedError<DatasetError>()("DatasetError", {
  file: Schema.String,
  line: Schema.NullOr(Schema.Int),
  field: Schema.NullOr(Schema.String),
  value: Schema.NullOr(Schema.String),
  expected: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    const place = this.line === null ? this.file : `${this.file}:${this.line}`
    const { expected, field, value } = this
    if (field !== null && value !== null) return `${place}: ${InvalidInput.sentence({ field, value, expected })}`
    const found = field ?? value
    return found === null ? `${place}: expected ${expected}` : `${place}: ${found}; expected ${expected}`
  }
}
