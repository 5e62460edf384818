import { notFiniteWords } from "@inspo/engine"
import { Schema } from "effect"

/**
 * A request that did not give its result.
 *
 * - `refused`: the server answered that it will not do it; nothing was done
 * - `failed`: the server began and failed
 * - `invalid`: its result cannot be used
 * - `unreachable`: it did not answer for too long
 * - `uncertain`: it may or may not have been done, and asking again could do it twice
 *
 * `cause` is what broke the connection, where something did.
 */
export class RequestFailure extends Schema.TaggedError<RequestFailure>()("RequestFailure", {
  request: Schema.String,
  kind: Schema.Literals(["refused", "failed", "invalid", "unreachable", "uncertain"]),
  status: Schema.NullOr(Schema.Int),
  reason: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    const status = this.status === null ? "" : ` ${this.status}`
    return `${this.request}: ${phrases[this.kind]}${status}: ${this.reason}`
  }
}

const phrases = {
  refused: "the server refused",
  failed: "the server failed",
  invalid: "the server gave an unusable result",
  unreachable: "the server did not answer",
  uncertain: "it is unknown whether the server did it"
}

/** Why a request did not give its result, as its last answer says. */
export const failure = (
  request: string,
  kind: RequestFailure["kind"],
  { cause, reason, status }: Pick<RequestFailure, "reason" | "status" | "cause">
) => new RequestFailure({ request, kind, status, reason, ...(cause === undefined ? {} : { cause }) })

/** Whether the server refused an update that is not finite: the protocol says that in words alone. */
export const isNotFinite = ({ reason }: RequestFailure): boolean => reason.includes(notFiniteWords)
