import { PatientClient } from "@inspo/http/client"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Clock, Effect, Fiber, Redacted, Ref, Schema, Tracer } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"

const key = "sk-0123456789"
const retryBudget = 60_000
const answerWithin = 5_000

/** What a server does with one try. `after` is its `Retry-After`, in seconds. */
const Try = Schema.Union([
  Schema.Struct({
    status: Schema.Literals([200, 400, 401, 404, 408, 429, 500, 503, 529]),
    after: Schema.Literals([0, 1, 40, 10_000])
  }),
  Schema.Literals(["refuses", "breaks", "hangs"])
])
type Try = typeof Try.Type

const answer = (request: HttpClientRequest.HttpClientRequest, does: Try) => {
  if (does === "hangs") return Effect.never
  if (does === "refuses")
    return Effect.fail(
      new HttpClientError.HttpClientError({
        reason: new HttpClientError.TransportError({
          request,
          cause: Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" })
        })
      })
    )
  const body =
    does === "breaks"
      ? new ReadableStream({ start: (controller) => controller.error(new Error("cut")) })
      : JSON.stringify(does)
  const { after, status } = does === "breaks" ? { after: 0, status: 200 } : does
  const headers = after === 0 ? {} : { "retry-after": String(after) }
  return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(body, { status, headers })))
}

/** Asks a server that answers by a script, and by its last line for ever; tells the times of its tries. */
const asked = Effect.fnUntraced(function* (script: readonly [Try, ...Array<Try>], retries?: number) {
  const tries = yield* Ref.make<ReadonlyArray<number>>([])
  const client = HttpClient.make((request) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const made = yield* Ref.updateAndGet(tries, (known) => [...known, now])
      return yield* answer(request, script[Math.min(made.length, script.length) - 1] ?? script[0])
    })
  )
  const ask = PatientClient.make(client, {
    server: "http://server",
    retryBudget,
    answerWithin,
    ...(retries === undefined ? {} : { retries })
  })
  const fiber = yield* Effect.forkChild(
    Effect.result(ask(HttpClientRequest.bearerToken(HttpClientRequest.get("http://server/"), Redacted.make(key))))
  )
  yield* TestClock.adjust("2 days")
  return { result: yield* Fiber.join(fiber), tries: yield* Ref.get(tries) }
})

/** Whether asking again may help. */
const passes = (does: Try): boolean =>
  typeof does === "string" || does.status === 408 || does.status === 429 || does.status >= 500

describe("PatientClient", () => {
  it.effect.prop(
    "returns the first usable answer, and stops at a final one, at the last retry, or at the end of retryBudget",
    { script: Schema.NonEmptyArray(Try), retries: Schema.Literals([0, 1, 3, 100]) },
    Effect.fnUntraced(function* ({ retries, script }) {
      const { result, tries } = yield* asked(script, retries)
      const seen = tries.map((_, n) => script[Math.min(n, script.length - 1)] ?? script[0])
      const last = seen.at(-1) ?? script[0]
      const [first = 0] = tries
      const span = (tries.at(-1) ?? 0) - first
      assert.isAtMost(tries.length, retries + 1)
      assert.isAtMost(span, retryBudget, "a try after retryBudget had ended")
      for (const does of seen.slice(0, -1)) assert.isTrue(passes(does), `asked again after ${JSON.stringify(does)}`)
      for (const [n, at] of tries.slice(1).entries()) {
        const does = seen[n]
        const least = typeof does === "object" ? does.after * 1000 : 0
        assert.isAtLeast(at - (tries[n] ?? 0), Math.max(least, 500), "asked again too soon")
      }
      if (result._tag === "Success") {
        assert.isTrue(typeof last === "object" && last.status === 200)
        return
      }
      const { failure } = result
      assert.strictEqual(failure.repeated, tries.length - 1)
      assert.strictEqual(failure.status, typeof last === "object" ? last.status : null)
      assert.strictEqual(failure.sent, last !== "refuses")
      assert.notInclude(JSON.stringify(failure) + String(failure.cause) + failure.stack, key)
      // It gives up for a reason.
      const asks = typeof last === "object" ? last.after * 1000 : 0
      const next = Math.max(asks, Math.min(500 * 2 ** failure.repeated, 30_000))
      const took = last === "hangs" ? answerWithin : 0
      assert.isTrue(!passes(last) || tries.length === retries + 1 || span + took + next > retryBudget)
    })
  )

  it.effect("does not retry if the body makes the answer final", () =>
    Effect.gen(function* () {
      const requests = yield* Ref.make(0)
      const client = HttpClient.make((request) =>
        Effect.as(
          Ref.update(requests, (n) => n + 1),
          HttpClientResponse.fromWeb(request, new Response("the quota is used up", { status: 429 }))
        )
      )
      const ask = PatientClient.make(client, {
        server: "http://server",
        retryBudget,
        answerWithin,
        isFinal: (_, body) => body.includes("quota")
      })
      const failure = yield* Effect.flip(ask(HttpClientRequest.get("http://server/")))
      assert.deepInclude(failure, { status: 429, body: "the quota is used up", repeated: 0 })
      assert.strictEqual(yield* Ref.get(requests), 1)
    })
  )

  it.effect.each(["authorization", "x-api-key", "x-goog-api-key"])(
    "gives each try a span that holds no key, sent as %s",
    (header) =>
      Effect.gen(function* () {
        const spans: Array<Tracer.NativeSpan> = []
        const tracer = Tracer.make({
          span: (options) => {
            const span = new Tracer.NativeSpan(options)
            spans.push(span)
            return span
          }
        })
        const client = HttpClient.make((request) =>
          Effect.succeed(HttpClientResponse.fromWeb(request, new Response("no", { status: 503 })))
        )
        const ask = PatientClient.make(client, { server: "http://server", retryBudget, answerWithin, retries: 1 })
        const request = HttpClientRequest.setHeader(HttpClientRequest.get("http://me:pass-word@server/"), header, key)
        const fiber = yield* Effect.flip(ask(request)).pipe(
          Effect.provideService(HttpClient.TracerHeaderFilter, () => true),
          Effect.withTracer(tracer),
          Effect.forkChild
        )
        yield* TestClock.adjust("1 minute")
        yield* Fiber.join(fiber)
        assert.lengthOf(spans, 2)
        for (const { attributes, events, name, status } of spans) {
          const cause = status._tag === "Ended" && status.exit._tag === "Failure" ? Cause.pretty(status.exit.cause) : ""
          const written = JSON.stringify([name, [...attributes], events.length, cause, status], (_, value: unknown) =>
            typeof value === "bigint" ? String(value) : value
          )
          assert.include(written, "server/")
          assert.include(written, "<redacted>")
          assert.notInclude(written, key)
          assert.notInclude(written, "pass-word")
        }
      })
  )
})
