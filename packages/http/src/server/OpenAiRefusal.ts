/** Refusals of servers with an API like OpenAI's. */
import { Schema } from "effect"

/** A request that is answered with another status than 200. `field` is the one at fault, where there is one. */
export class Refusal extends Schema.TaggedError<Refusal>()("Refusal", {
  status: Schema.Int,
  reason: Schema.String,
  field: Schema.optionalKey(Schema.String),
  /** OpenAI's name of the fault, where the status has several. */
  code: Schema.optionalKey(Schema.String),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return this.reason
  }
}

/** A refusal as OpenAI's clients read it. */
export const bodyOf = ({ code, field, reason, status }: Refusal): object => ({
  error: {
    message: reason,
    type: types[status] ?? (status >= 500 ? "server_error" : "invalid_request_error"),
    param: field ?? null,
    code: code ?? codes[status] ?? null
  }
})

const types: Readonly<Record<number, string>> = { 401: "authentication_error", 429: "rate_limit_error" }
const codes: Readonly<Record<number, string>> = {
  401: "invalid_api_key",
  404: "not_found",
  429: "rate_limit_exceeded"
}

export const refuse = (status: number, reason: string): Refusal => new Refusal({ status, reason })

/** What a client gets for a fault of the server's own. */
export const failed = (cause: Error): Refusal => new Refusal({ status: 500, reason: cause.message, cause })
