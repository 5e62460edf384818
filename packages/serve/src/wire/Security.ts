/** The scopes of keys, as middleware that the server implements. Beyond loopback a key is required. */
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

/** The scope of agents and trainers: leases, rewards, closing and rewinding. An admin's key includes it. */
export class LeaseScope extends HttpApiMiddleware.Service<LeaseScope>()("@inspo/serve/LeaseScope", {
  security: {
    leaseKey: key("A key of the scope `lease`: leases, rewards, closing and rewinding cohorts, the incumbent")
  },
  error: [Unauthorized, Forbidden, TooManyRequestsNow]
}) {}

/** The scope of admins: all routes. */
export class AdminScope extends HttpApiMiddleware.Service<AdminScope>()("@inspo/serve/AdminScope", {
  security: { adminKey: key("A key of the scope `admin`: all routes") },
  error: [Unauthorized, Forbidden]
}) {}

/** The errors of any request: malformed, too large, one too many, not stored, or no active server. */
export class Admission extends HttpApiMiddleware.Service<Admission>()("@inspo/serve/Admission", {
  error: [InvalidRequest, TooLarge, TooManyRequestsNow, StorageFailed, NotActiveNow]
}) {}
