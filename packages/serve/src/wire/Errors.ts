/** What the server refuses, as RFC 9457 problems: `type` names the kind, `detail` says it in words, the fields say what to mend. */
import { Schema } from "effect"
import { HttpApiError, HttpApiSchema } from "effect/http-api"

/** A value that is not taken, and how to mend it. */
export const Refusal = Schema.Struct({
  field: Schema.String,
  value: Schema.String,
  expected: Schema.String,
  remedy: Schema.String
}).annotate({ identifier: "Refusal" })
export interface Refusal extends Schema.Schema.Type<typeof Refusal> {}

/** A request that cannot be taken as it is; nothing of it was. */
export class InvalidRequest extends HttpApiError.Problem<InvalidRequest>()(
  "InvalidRequest",
  { type: "urn:inspo:invalid-request", status: 400, title: "Invalid request" },
  Refusal.fields
) {}

/** No key, or one that nobody has. */
export class Unauthorized extends HttpApiError.Problem<Unauthorized>()("Unauthorized", {
  type: "urn:inspo:unauthorized",
  status: 401,
  title: "A key is required"
}) {}

/** A key that does not reach so far. */
export class Forbidden extends HttpApiError.Problem<Forbidden>()(
  "Forbidden",
  { type: "urn:inspo:forbidden", status: 403, title: "The key does not allow it" },
  { scope: Schema.Literals(["lease", "admin"]) }
) {}

/** Nothing goes by this name. */
export class NotFound extends HttpApiError.Problem<NotFound>()(
  "NotFound",
  { type: "urn:inspo:not-found", status: 404, title: "Not found" },
  {
    what: Schema.Literals(["population", "cohort", "lease", "instruction"]),
    name: Schema.String,
    remedy: Schema.String
  }
) {}

/** What stands differs from what is asked for: another n of a key, other settings of a name, a sealed cohort. */
export class Conflict extends HttpApiError.Problem<Conflict>()(
  "Conflict",
  { type: "urn:inspo:conflict", status: 409, title: "It stands otherwise" },
  {
    differences: Schema.Array(Schema.Struct({ field: Schema.String, stands: Schema.Json, given: Schema.Json })),
    remedy: Schema.String
  }
) {}

/** More than a limit allows. */
export class TooLarge extends HttpApiError.Problem<TooLarge>()(
  "TooLarge",
  { type: "urn:inspo:too-large", status: 413, title: "Too large" },
  {
    field: Schema.String,
    size: Schema.NullOr(Schema.Int).annotate({ description: "Null where it was not told: more than the limit" }),
    limit: Schema.Int,
    remedy: Schema.String
  }
) {}

const wait = { retryAfter: Schema.Int.annotate({ description: "Seconds, as the header `Retry-After` says too" }) }

/** More requests, populations or open leases than the server holds. */
export class TooManyRequests extends HttpApiError.Problem<TooManyRequests>()(
  "TooManyRequests",
  { type: "urn:inspo:too-many-requests", status: 429, title: "Too many" },
  { ...wait, limit: Schema.String }
) {}

/** The server could not keep what was asked for, so nothing of it was done; the same request may be sent again. */
export class NotKept extends HttpApiError.Problem<NotKept>()(
  "NotKept",
  { type: "urn:inspo:not-kept", status: 500, title: "It could not be kept" },
  { remedy: Schema.String }
) {}

/** A standby that knows no active server to pass the request on to, or a server that begins or ends. */
export class NotActive extends HttpApiError.Problem<NotActive>()(
  "NotActive",
  { type: "urn:inspo:not-active", status: 503, title: "No active server" },
  wait
) {}

const headers = { "retry-after": Schema.Int }

/** {@link TooManyRequests} with the header `Retry-After`. */
export const TooManyRequestsNow = TooManyRequests.pipe(
  HttpApiSchema.encodeToWithHeaders(
    { body: TooManyRequests, headers },
    { decode: ({ body }) => body, encode: (body) => ({ body, headers: { "retry-after": body.retryAfter } }) }
  )
)

/** {@link NotActive} with the header `Retry-After`. */
export const NotActiveNow = NotActive.pipe(
  HttpApiSchema.encodeToWithHeaders(
    { body: NotActive, headers },
    { decode: ({ body }) => body, encode: (body) => ({ body, headers: { "retry-after": body.retryAfter } }) }
  )
)
