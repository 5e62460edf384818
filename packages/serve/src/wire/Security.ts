/** Who may ask: keys by scope. Beyond loopback a key is required; the server implements these. */
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import {
  Forbidden,
  InvalidRequest,
  NotActiveNow,
  StorageFailed,
  TooLarge,
  TooManyRequestsNow,
  Unauthorized
} from "./Errors.ts"

const key = (description: string) =>
  HttpApiSecurity.bearer.pipe(HttpApiSecurity.annotateMerge(OpenApi.annotations({ description })))

/** Leases, rewards, closing and rewinding: what agents and trainers hold. An admin's key does too. */
export class LeaseScope extends HttpApiMiddleware.Service<LeaseScope>()("@inspo/serve/LeaseScope", {
  security: {
    leaseKey: key("A key of the scope `lease`: leases, rewards, closing and rewinding cohorts, the incumbent")
  },
  error: [Unauthorized, Forbidden, TooManyRequestsNow]
}) {}

/** Everything. */
export class AdminScope extends HttpApiMiddleware.Service<AdminScope>()("@inspo/serve/AdminScope", {
  security: { adminKey: key("A key of the scope `admin`: everything") },
  error: [Unauthorized, Forbidden]
}) {}

/** What may befall any request: it is malformed, too large or one too many, cannot be kept, or no server is active. */
export class Admission extends HttpApiMiddleware.Service<Admission>()("@inspo/serve/Admission", {
  error: [InvalidRequest, TooLarge, TooManyRequestsNow, StorageFailed, NotActiveNow]
}) {}
