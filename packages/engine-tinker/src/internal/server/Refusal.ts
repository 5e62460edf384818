import { Schema } from "effect"

/** A request that is answered with a status other than 200, or a future that failed. */
export class Refusal extends Schema.TaggedError<Refusal>()("Refusal", {
  status: Schema.Int,
  detail: Schema.String
}) {
  override get message() {
    return this.detail
  }
}

export const refuse = (detail: string, status = 400): Refusal => new Refusal({ status, detail })
