/** The routes of OpenTelemetry: evaluations in spans and log records are rewards of leases. */
import { Array as Arr, Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Populations } from "../../live/Populations.ts"
import { Api } from "../../wire/Api.ts"
import { type Conflict, NotActive, type NotFound, type Refusal, type StorageFailed } from "../../wire/Errors.ts"
import type { Problem } from "../../wire/internal/Refusals.ts"
import type { RewardResult } from "../../wire/Lease.ts"
import * as Limits from "../../wire/Limits.ts"
import * as Evaluations from "./Evaluations.ts"
import * as LeaseHandlers from "./LeaseHandlers.ts"
import * as Otlp from "./Otlp.ts"
import { on } from "./Serving.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "telemetry",
  Effect.fnUntraced(function* (handlers) {
    const within = on(yield* Populations)
    const evaluations = Evaluations.make()
    const answered = <A>(
      { arrayBuffer, headers }: HttpServerRequest.HttpServerRequest,
      { find, read, rejected }: Signal<A>
    ) =>
      Effect.gen(function* () {
        const format = yield* Otlp.formatOf(headers["content-type"])
        const body = yield* Effect.mapError(
          arrayBuffer,
          ({ message }) => new Otlp.Unreadable({ status: 400, message, format })
        )
        const bytes = yield* Otlp.unpacked(new Uint8Array(body), format, headers["content-encoding"])
        const found = find(yield* read(bytes, format), headers["inspo-evaluation"])
        const outcome = yield* reported(found, within)
        return respond(format, Otlp.answer(format, rejected, outcome))
      }).pipe(
        Effect.catchTag("Unreadable", ({ format, message, status }) =>
          Effect.succeed(respond(format, Otlp.refusal(format, message), status))
        )
      )
    return handlers
      .handleRaw("traces", ({ request }) =>
        answered(request, { read: Otlp.spansOf, find: evaluations.ofSpans, rejected: "rejectedSpans" })
      )
      .handleRaw("logs", ({ request }) =>
        answered(request, { read: Otlp.logsOf, find: evaluations.ofLogs, rejected: "rejectedLogRecords" })
      )
      .handleRaw("metrics", ({ request }) =>
        answered(request, { read: () => Effect.succeed([]), find: () => [], rejected: "rejectedSpans" })
      )
  })
)

/** What differs between spans and log records. */
interface Signal<A> {
  readonly read: (bytes: Uint8Array, format: Otlp.Format) => Effect.Effect<ReadonlyArray<A>, Otlp.Unreadable>
  readonly find: (all: ReadonlyArray<A>, evaluation: string | undefined) => ReadonlyArray<Evaluations.Found>
  readonly rejected: Otlp.Rejected
}

/** Reports the rewards that were found. A repeated one is no fault: an exporter sends again what was not answered. */
const reported = Effect.fnUntraced(function* (
  found: ReadonlyArray<Evaluations.Found>,
  within: ReturnType<typeof on>
): Effect.fn.Return<Otlp.Outcome, Exclude<Problem, NotFound | Conflict | StorageFailed>> {
  const [rewards, problems] = Arr.separate(found)
  const results = yield* Effect.forEach(
    Object.entries(Arr.groupBy(rewards, ({ lease }) => lease.replace(/~.*$/su, ""))),
    ([population, own]) =>
      Effect.forEach(Arr.chunksOf(own, Limits.rewardsPerRequest), (some) =>
        within(population, (served) => LeaseHandlers.reward(served, { rewards: some })).pipe(
          Effect.map((answer) => answer.results),
          Effect.catchTag("NotFound", () => Effect.succeed(some.map((): RewardResult => ({ outcome: "unknown" }))))
        )
      )
  ).pipe(
    // Exporters send again after 503, not after 500.
    Effect.catchTag("StorageFailed", ({ detail = "" }) => Effect.fail(new NotActive({ retryAfter: 1, detail }))),
    // Nothing is closed.
    Effect.catchTag("Conflict", Effect.die)
  )
  const refused = results
    .flat(2)
    .filter(({ outcome }) => outcome === "refused" || outcome === "unknown")
    .map(({ outcome, refusal }) => (refusal === undefined ? `the lease is ${outcome}` : inWords(refusal)))
  const isWarning = (problem: string) => problem === Evaluations.noLease
  return {
    rejected: refused.length + problems.filter((problem) => !isWarning(problem)).length,
    message: [...new Set([...problems, ...refused])].slice(0, mostProblems).join("; ")
  }
})

const inWords = ({ expected, field, value }: Refusal) => `${field} is ${value}, expected ${expected}`

/** Different problems that an answer names. */
const mostProblems = 10

const respond = (format: Otlp.Format, body: Uint8Array | string, status = 200) =>
  typeof body === "string"
    ? HttpServerResponse.text(body, { status, contentType: Otlp.mediaTypes[format] })
    : HttpServerResponse.uint8Array(body, { status, contentType: Otlp.mediaTypes[format] })
