/** The routes of the OpenFeature Remote Evaluation Protocol: a population is a flag, and its evaluation a lease. */
import { createHash } from "node:crypto"
import { State } from "@inspo/cohorts"
import { Invariant } from "@inspo/domain"
import { Effect, Predicate, Schema } from "effect"
import { type Headers, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Populations, type Served } from "../../live/Populations.ts"
import { Api } from "../../wire/Api.ts"
import type { Problem } from "../../wire/internal/Refusals.ts"
import { Key, Stratum } from "../../wire/Name.ts"
import * as LeaseHandlers from "./LeaseHandlers.ts"
import { on } from "./Serving.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "flags",
  Effect.fnUntraced(function* (handlers) {
    const populations = yield* Populations
    const within = on(populations)
    const evaluated = (flag: string, user: User) =>
      within(flag, (served) => evaluate(served, user)).pipe(Effect.mapError(failureOf))

    const one = Effect.fnUntraced(function* (flag: string, request: HttpServerRequest.HttpServerRequest) {
      return HttpServerResponse.jsonUnsafe(yield* evaluated(flag, yield* userOf(request)))
    })
    const all = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const user = yield* userOf(request)
      const online = (yield* populations.list).filter(({ created }) => created.settings.profile === "online")
      const flags = yield* Effect.forEach(
        online,
        ({ name }) => evaluated(name, user).pipe(Effect.catch((failure) => Effect.succeed(shown(failure, name)))),
        { concurrency: 8 }
      )
      return tagged({ flags }, request.headers)
    })
    return handlers
      .handleRaw("evaluate", ({ params, request }) =>
        one(params.key, request).pipe(Effect.catch((failure) => Effect.succeed(refusal(failure, params.key))))
      )
      .handleRaw("evaluateAll", ({ request }) =>
        all(request).pipe(Effect.catch((failure) => Effect.succeed(refusal(failure))))
      )
  })
)

/** An evaluation that failed, in the words of OpenFeature. */
class Failed extends Schema.TaggedError<Failed>()("Failed", {
  status: Schema.Int,
  errorCode: Schema.Literals(["FLAG_NOT_FOUND", "TARGETING_KEY_MISSING", "INVALID_CONTEXT", "PARSE_ERROR", "GENERAL"]),
  errorDetails: Schema.String,
  /** Seconds. */
  retryAfter: Schema.optionalKey(Schema.Int)
}) {}

/** Who a flag is evaluated for, and the stratum of the work, if the context has one. */
interface User {
  readonly targetingKey: string
  readonly stratum?: string
}

const userOf = Effect.fnUntraced(function* ({
  json
}: HttpServerRequest.HttpServerRequest): Effect.fn.Return<User, Failed> {
  const invalid = (errorCode: Failed["errorCode"], errorDetails: string) =>
    new Failed({ status: 400, errorCode, errorDetails })
  const body: unknown = yield* Effect.mapError(json, () => invalid("PARSE_ERROR", "The body is not JSON."))
  if (!Predicate.isObject(body)) return yield* invalid("PARSE_ERROR", "The body is no object.")
  const context = Predicate.hasProperty(body, "context") ? body.context : {}
  if (!Predicate.isObject(context)) return yield* invalid("INVALID_CONTEXT", "context: expected an object")
  const targetingKey = Predicate.hasProperty(context, "targetingKey") ? context.targetingKey : ""
  if (targetingKey === "" || targetingKey === null)
    return yield* invalid("TARGETING_KEY_MISSING", "Name the user or the conversation in context.targetingKey.")
  if (!isTargetingKey(targetingKey))
    return yield* invalid("INVALID_CONTEXT", `context.targetingKey: expected well-formed text of at most ${longest}`)
  const stratum = Predicate.hasProperty(context, "stratum") ? context.stratum : undefined
  if (stratum === undefined) return { targetingKey }
  if (!isStratum(stratum))
    return yield* invalid("INVALID_CONTEXT", "context.stratum: expected well-formed text of at most 200 characters")
  return { targetingKey, stratum }
})

/** Room for the number of a cohort in the key of a lease. */
const longest = "180 characters"
const isStratum = Schema.is(Stratum)
const isTargetingKey = Schema.is(Key.check(Schema.isMaxLength(180)))

/**
 * Evaluations of a targeting key are one lease, however often a provider asks, until its cohort has been closed. Then they are another
 * lease with the same instruction, as long as it is alive.
 */
const evaluate = Effect.fnUntraced(function* (served: Served, { targetingKey, ...segment }: User) {
  if (served.created.settings.profile !== "online")
    return yield* new Failed({
      status: 400,
      errorCode: "GENERAL",
      errorDetails: `${served.name} has the profile trainer; expected online, whose instructions are flags`
    })
  const state = yield* served.live.state
  const { cohorts, opened, usesSeed } = state
  const phase = usesSeed ? "validation" : "train"
  const unit = State.unitOf({ key: targetingKey, sticky: targetingKey })
  const own = cohorts.filter((one) => one.phase === phase && one.status !== "complete")
  const { index = opened[phase] + 1 } =
    own.find((one) => State.heldBy(state, one, unit) !== undefined) ?? own.find(({ status }) => status === "open") ?? {}
  const { cohort, leases } = yield* LeaseHandlers.leaseInSpan(served, {
    requests: [{ key: `${targetingKey}@${usesSeed ? "seed" : ""}${index}`, sticky: targetingKey, ...segment }]
  })
  const { instruction, lease, probability } = Invariant.at(leases, 0, "lease")
  return {
    key: served.name,
    reason: usesSeed ? "STATIC" : "SPLIT",
    variant: instruction.id,
    value: "text" in instruction ? instruction.text : instruction.texts,
    metadata: { "inspo.lease": lease, "inspo.cohort": cohort, "inspo.propensity": probability }
  }
})

const failureOf = (problem: Problem | Failed): Failed => {
  const { detail = "" } = problem._tag === "Failed" ? {} : problem
  switch (problem._tag) {
    case "Failed":
      return problem
    case "NotFound":
      return new Failed({ status: 404, errorCode: "FLAG_NOT_FOUND", errorDetails: detail })
    case "TooManyRequests":
    case "NotActive": {
      const { retryAfter, status } = problem
      return new Failed({ status, errorCode: "GENERAL", errorDetails: detail, retryAfter })
    }
    case "StorageFailed":
      return new Failed({ status: 500, errorCode: "GENERAL", errorDetails: detail })
    case "InvalidRequest":
    case "Conflict":
      return new Failed({ status: 400, errorCode: "GENERAL", errorDetails: detail })
  }
}

const shown = ({ errorCode, errorDetails }: Failed, key: string) => ({ key, errorCode, errorDetails })

const refusal = ({ errorCode, errorDetails, retryAfter, status }: Failed, key?: string) =>
  HttpServerResponse.jsonUnsafe(
    { ...(key === undefined ? {} : { key }), errorCode, errorDetails },
    { status, ...(retryAfter === undefined ? {} : { headers: { "retry-after": String(retryAfter) } }) }
  )

/** An answer with its tag, or 304 if the client has it. */
const tagged = (body: Schema.Json, headers: Headers.Headers) => {
  const etag = `"${createHash("sha256").update(JSON.stringify(body)).digest("base64url")}"`
  const tags = (headers["if-none-match"] ?? "").split(",")
  const known = new Set(tags.map((tag) => tag.trim().replace(/^W\//u, "")))
  return known.has(etag) || known.has("*")
    ? HttpServerResponse.empty({ status: 304, headers: { etag } })
    : HttpServerResponse.jsonUnsafe(body, { headers: { etag } })
}
