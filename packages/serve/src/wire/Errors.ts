import { Problem } from "@inspo/domain"
import { Schema } from "effect"
import { HttpApiError, HttpApiSchema } from "effect/http-api"

/** A refused value, and how to fix it. */
export const Refusal = Schema.Struct({ ...Problem.fields, remedy: Schema.String }).annotate({ identifier: "Refusal" })
export interface Refusal extends Schema.Schema.Type<typeof Refusal> {}

/** The request cannot be processed; nothing of it was done. */
export class InvalidRequest extends HttpApiError.Problem<InvalidRequest>()(
  "InvalidRequest",
  { type: "urn:inspo:invalid-request", status: 400, title: "Invalid request" },
  Refusal.fields
) {}

/** The request has no key, or an unknown one. */
export class Unauthorized extends HttpApiError.Problem<Unauthorized>()("Unauthorized", {
  type: "urn:inspo:unauthorized",
  status: 401,
  title: "A key is required"
}) {}

/** The scope of the key does not include this route. */
export class Forbidden extends HttpApiError.Problem<Forbidden>()(
  "Forbidden",
  { type: "urn:inspo:forbidden", status: 403, title: "The key does not allow it" },
  { scope: Schema.Literals(["lease", "admin"]) }
) {}

/** Nothing has this name. */
export class NotFound extends HttpApiError.Problem<NotFound>()(
  "NotFound",
  { type: "urn:inspo:not-found", status: 404, title: "Not found" },
  {
    what: Schema.Literals(["population", "cohort", "lease", "instruction"]),
    name: Schema.String,
    remedy: Schema.String
  }
) {}

/** The request contradicts what is stored: another n of a key, other settings of a name, a sealed cohort. */
export class Conflict extends HttpApiError.Problem<Conflict>()(
  "Conflict",
  { type: "urn:inspo:conflict", status: 409, title: "Conflict" },
  {
    differences: Schema.Array(Schema.Struct({ field: Schema.String, current: Schema.Json, given: Schema.Json })),
    remedy: Schema.String
  }
) {}

/** The request is larger than a limit. */
export class TooLarge extends HttpApiError.Problem<TooLarge>()(
  "TooLarge",
  { type: "urn:inspo:too-large", status: 413, title: "Too large" },
  {
    field: Schema.String,
    size: Schema.NullOr(Schema.Int).annotate({ description: "Null if it is unknown: more than the limit" }),
    limit: Schema.Int,
    remedy: Schema.String
  }
) {}

const wait = { retryAfter: Schema.Int.annotate({ description: "Seconds, as in the header `Retry-After`" }) }

/** More requests, populations or open leases than the server holds. */
export class TooManyRequests extends HttpApiError.Problem<TooManyRequests>()(
  "TooManyRequests",
  { type: "urn:inspo:too-many-requests", status: 429, title: "Too many" },
  { ...wait, limit: Schema.String, remedy: Schema.String }
) {}

/** The server could not store the request, so nothing of it was done; the same request may be sent again. */
export class StorageFailed extends HttpApiError.Problem<StorageFailed>()(
  "StorageFailed",
  { type: "urn:inspo:storage-failed", status: 500, title: "The request could not be stored" },
  { remedy: Schema.String }
) {}

/** A standby that knows no active server to forward the request to, or a server that is starting or stopping. */
export class NotActive extends HttpApiError.Problem<NotActive>()(
  "NotActive",
  { type: "urn:inspo:not-active", status: 503, title: "No active server" },
  wait
) {}

const headers = { "retry-after": Schema.Int }
const withHeader = {
  decode: <A>({ body }: { readonly body: A }) => body,
  encode: <A extends { readonly retryAfter: number }>(body: A) => ({
    body,
    headers: { "retry-after": body.retryAfter }
  })
}

/** {@link TooManyRequests} with the header `Retry-After`. */
export const TooManyRequestsNow = TooManyRequests.pipe(
  HttpApiSchema.encodeToWithHeaders({ body: TooManyRequests, headers }, withHeader)
)

/** {@link NotActive} with the header `Retry-After`. */
export const NotActiveNow = NotActive.pipe(HttpApiSchema.encodeToWithHeaders({ body: NotActive, headers }, withHeader))
