/** The direct way of a request for leases, or of rewards, to its answer. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { Credentials } from "@inspo/http/server"
import { Effect, Exit, Result, Schema, Tracer } from "effect"
import { Headers } from "effect/http"
import { Populations, type Served } from "../../live/Populations.ts"
import { LeaseRequests, type Leases, type RewardResults, Rewards } from "../../wire/Lease.ts"
import type { Problem } from "../../wire/internal/Refusals.ts"
import * as LeaseHandlers from "./LeaseHandlers.ts"
import * as Plain from "./Plain.ts"
import { type Gate, holderOf } from "./Security.ts"

/** Answers a request, or leaves it unread and unanswered to what comes `otherwise`. */
export type Direct = (request: IncomingMessage, response: ServerResponse, otherwise: () => void) => void

/**
 * Answers each request that succeeds and that has all its body at once, without routes and middleware. Every other one is left to
 * them, which judge it again: nothing was done of it. With a tracer all of them are, since the routes make the spans.
 */
export const make = Effect.fnUntraced(function* (gate: Gate): Effect.fn.Return<Direct, never, Populations> {
  const populations = yield* Populations
  const run = Effect.runForkWith(yield* Effect.context())
  const isTraced = (yield* Tracer.Tracer) !== Tracer.nativeTracer
  return (request, response, otherwise) => {
    const [, name, route] = path.exec(request.url ?? "") ?? []
    const answer = route === undefined || isTraced ? undefined : answers[route]
    const { authorization } = request.headers
    const holder =
      answer === undefined || !isPlain(request) ? null : holderOf(gate.keys, Credentials.bearerOf(authorization) ?? "")
    if (name === undefined || answer === undefined || holder === null) return otherwise()
    request.once("readable", () => {
      const asking = answer(bodyOf(request))
      const served = populations.get(name)
      if (asking === null || Exit.isFailure(served) || !gate.enter()) return otherwise()
      const answering = asking(served.value)
      const within = holder.scope === "lease" ? gate.withinRate(Headers.fromInput(request.headers)) : null
      run(within === null ? answering : Effect.andThen(within, answering)).addObserver((exit) => {
        gate.leave()
        if (Exit.isFailure(exit)) return otherwise()
        request.read()
        const body = JSON.stringify(exit.value)
        response
          .writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
          .end(body)
      })
    })
  }
})

/** A name that is encoded takes the other way. */
const path = /^\/v1\/populations\/([A-Za-z0-9][\w.-]{0,199})\/(leases|rewards)$/u

const isPlain = ({ headers, method }: IncomingMessage): boolean =>
  method === "POST" &&
  headers["content-type"] === "application/json" &&
  headers["content-encoding"] === undefined &&
  headers.expect === undefined &&
  Number(headers["content-length"] ?? 0) > 0

/** The body, which stays in the request; null if not all of it has arrived. */
const bodyOf = (request: IncomingMessage): string | null => {
  const body: Buffer | null = request.read()
  if (body !== null) request.unshift(body)
  return body?.length === Number(request.headers["content-length"]) ? body.toString("utf8") : null
}

type Answering = (body: string | null) => ((served: Served) => Effect.Effect<Leases | RewardResults, Problem>) | null

const answering = <A>(
  schema: Schema.ConstraintDecoder<A>,
  isPlain: (body: unknown) => body is A,
  answer: (served: Served, asked: A) => Effect.Effect<Leases | RewardResults, Problem>
): Answering => {
  const decode = Schema.decodeUnknownResult(schema, { onExcessProperty: "error" })
  return (body) => {
    const parsed = Result.try((): unknown => (body === null ? null : JSON.parse(body)))
    if (Result.isFailure(parsed)) return null
    if (isPlain(parsed.success)) {
      const asked = parsed.success
      return (served) => answer(served, asked)
    }
    const asked = decode(parsed.success)
    return Result.isFailure(asked) ? null : (served) => answer(served, asked.success)
  }
}

const answers: Readonly<Record<string, Answering>> = {
  leases: answering(LeaseRequests, Plain.isLeaseRequests, LeaseHandlers.lease),
  rewards: answering(Rewards, Plain.isRewards, LeaseHandlers.reward)
}
