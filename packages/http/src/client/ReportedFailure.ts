/** Failures that servers of models report in the body of an answer, whatever its status. */
import { Option, Schema } from "effect"

/**
 * The status of the failure that a body reports instead of an answer, also one of status 200: gateways send those of the
 * servers behind them so. Null for an answer. A failure that does not say its kind may pass.
 */
export const statusIn = (body: string): number | null =>
  Option.match(failureIn(body), {
    onNone: () => null,
    onSome: ({ code, status, type }) =>
      [code, status, type]
        .map((kind) => statuses.get(String(kind).toLowerCase()) ?? Number(kind))
        .find((one) => Number.isInteger(one) && one >= 400 && one < 600) ?? 502
  })

/** The message of the failure that a body reports; null for another body. */
export const messageIn = (body: string): string | null =>
  Option.getOrNull(Option.map(failureIn(body), ({ message, ...rest }) => message ?? JSON.stringify(rest)))

/** The kinds of failures that OpenAI, Anthropic and Google name, with their statuses. */
const statuses: ReadonlyMap<unknown, number> = new Map([
  ["invalid_request_error", 400],
  ["invalid_argument", 400],
  ["failed_precondition", 400],
  ["authentication_error", 401],
  ["invalid_api_key", 401],
  ["unauthenticated", 401],
  ["billing_error", 402],
  ["insufficient_quota", 402],
  ["permission_error", 403],
  ["permission_denied", 403],
  ["model_not_found", 404],
  ["not_found_error", 404],
  ["not_found", 404],
  ["request_too_large", 413],
  ["rate_limit_error", 429],
  ["rate_limit_exceeded", 429],
  ["resource_exhausted", 429]
])

const failureIn = (body: string): Option.Option<Failure> =>
  // Large answers are not parsed twice.
  Option.flatMap(body.includes('"error"') ? decodeBody(body) : Option.none(), ({ choices, error, ...whole }) => {
    const [choice] = choices ?? []
    const reported = error || choice?.error
    if (reported) return Option.some(typeof reported === "string" ? { message: reported } : reported)
    if (whole.object === "error") return Option.some(whole)
    return choice?.finish_reason === "error"
      ? Option.some({ message: "the model stopped with an error" })
      : Option.none()
  })

const maybe = <S extends Schema.Constraint>(schema: S) => Schema.optional(Schema.NullOr(schema))

const Failure = Schema.Struct({
  message: maybe(Schema.String),
  code: Schema.optional(Schema.Unknown),
  status: Schema.optional(Schema.Unknown),
  type: Schema.optional(Schema.Unknown)
})
interface Failure extends Schema.Schema.Type<typeof Failure> {}

const Reported = maybe(Schema.Union([Schema.String, Failure]))

const decodeBody = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({
      ...Failure.fields,
      object: maybe(Schema.String),
      error: Reported,
      choices: maybe(Schema.Array(Schema.Struct({ error: Reported, finish_reason: Schema.optional(Schema.Unknown) })))
    })
  )
)
