import { createServer } from "node:net"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import { Engine, type EngineError } from "@inspo/engine"
import { TabularEngine } from "@inspo/engine/testing"
import type * as TinkerEngine from "@inspo/engine-tinker"
import { Clock, Effect, Fiber, Layer, Logger, Schema } from "effect"
import { HttpClient, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import * as Connect from "./support/Connect.ts"
import * as InMemory from "./support/InMemory.ts"

const served = InMemory.layer().pipe(Layer.provide(Layer.effect(Engine, TabularEngine.make)))

const connect = (options: Partial<TinkerEngine.TinkerEngineOptions> = {}) =>
  Connect.connect({ url: "http://odd.test", encoding: "json", ...options })

/** The client, whose requests of `path` are answered by `answer`. */
const answering = (path: string, answer: (request: HttpClientRequest.HttpClientRequest, text: string) => Response) =>
  Effect.map(HttpClient.HttpClient, (inner) =>
    HttpClient.make((request) =>
      request.url.endsWith(path)
        ? Effect.gen(function* () {
            const response = yield* inner.execute(request)
            return HttpClientResponse.fromWeb(request, answer(request, yield* response.text))
          })
        : inner.execute(request)
    )
  )

/** What is logged. */
const listening = () => {
  const said: Array<string> = []
  const logger = Logger.make<unknown, void>(({ message }) => {
    said.push(String(message))
  })
  return { said, layer: Logger.layer([logger]) }
}

/** Lets time pass until an effect has failed; how, and after how many seconds. */
const failing = Effect.fnUntraced(function* <A>(effect: Effect.Effect<A, EngineError>) {
  const fiber = yield* Effect.forkChild(Effect.flip(effect))
  let seconds = 0
  while (fiber.pollUnsafe() === undefined && seconds < 1000) {
    yield* TestClock.adjust("1 second")
    seconds += 1
  }
  return { error: yield* Fiber.join(fiber), seconds }
})

const Wait = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 }))

describe("retryBudget with a server", () => {
  it.effect.prop(
    "is never stretched by what the server asks for, and is not silent",
    [Wait],
    ([wait]) =>
      Effect.gen(function* () {
        const busy = () => Response.json({ detail: "busy" }, { status: 503, headers: { "retry-after": String(wait) } })
        const client = yield* answering("asample", busy)
        const engine = yield* connect().pipe(Effect.provideService(HttpClient.HttpClient, client))
        const { layer, said } = listening()
        const { error, seconds } = yield* failing(Effect.provide(engine.sample([Connect.request]), layer))
        assert.match(error.message, /503: busy/u)
        assert.isAtMost(seconds, 302)
        assert.match(said[0] ?? "", /^waiting for http:\/\/odd\.test: asample: 503: busy; /u)
        if (wait > 300) assert.match(said[0] ?? "", /it asks to wait .*, there will be one more try in 5m/u)
        assert.isBelow(said.length, 15)
      }).pipe(Effect.scoped, Effect.provide(served)),
    { arbitrary: { runs: 10 } }
  )

  it.effect("is told where a page comes instead of an answer, or half an answer", () =>
    Effect.gen(function* () {
      const bodies = [
        { body: () => "<html>Please log in</html>", type: "text/html" },
        { body: (text: string) => text.slice(0, -3), type: "application/json" }
      ]
      for (const { body, type } of bodies) {
        const client = yield* answering(
          "asample",
          (_, text) => new Response(body(text), { headers: { "content-type": type } })
        )
        const engine = yield* connect().pipe(Effect.provideService(HttpClient.HttpClient, client))
        const { layer, said } = listening()
        const { error } = yield* failing(Effect.provide(engine.sample([Connect.request]), layer))
        const expected = new RegExp(`asample: .*200: the body of \\d+ bytes \\(${type}\\) is not JSON`, "u")
        assert.match(said[0] ?? "", expected)
        assert.match(error.message, expected)
      }
    }).pipe(Effect.scoped, Effect.provide(served))
  )

  it.effect("lasts as long as the server is at work, however long it holds the question", () =>
    Effect.gen(function* () {
      const inner = yield* HttpClient.HttpClient
      const began = yield* Clock.currentTimeMillis
      const holding = HttpClient.make((request) =>
        Effect.gen(function* () {
          const early = (yield* Clock.currentTimeMillis) - began < 3_600_000
          if (early && request.headers["x-tinker-request-type"] === "Sample") return yield* Effect.never
          return yield* inner.execute(request)
        })
      )
      const engine = yield* connect().pipe(Effect.provideService(HttpClient.HttpClient, holding))
      const { layer, said } = listening()
      const fiber = yield* Effect.forkChild(Effect.provide(engine.sample([Connect.request]), layer))
      for (let second = 0; second < 3700; second++) yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(fiber)).length, 1)
      assert.match(said[0] ?? "", /asample: it has been at work for \d+m$/u)
    }).pipe(Effect.scoped, Effect.provide(served))
  )

  it.live("ends with what broke the connection, as cause and in words", () =>
    Effect.gen(function* () {
      const port = yield* Effect.promise(closedPort)
      const error = yield* Effect.flip(
        connect({ url: `http://127.0.0.1:${port}`, retryBudget: "100 millis", names: { url: "engine.url" } })
      )
      assert.match(
        error.message,
        /engine\.url is http:.*, which is not a server of the Tinker protocol: .*ECONNREFUSED/u
      )
      let cause: unknown = error
      while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause
      assert.match(String(cause), /ECONNREFUSED/u)
    }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layerUndici))
  )
})

const Wrong = Schema.Union([
  Schema.Struct({ logprob: Schema.Literals([5, 0.5, 0.02, 1e300]) }),
  Schema.Struct({ token: Schema.Literals([-5, -1, 1e9, 2 ** 40]) })
])

describe("what a server answers", () => {
  it.effect.prop(
    "is refused where it cannot be: a probability above 1, a token that is none",
    [Wrong],
    ([wrong]) =>
      Effect.gen(function* () {
        const [pattern, value] =
          "token" in wrong
            ? ([/("tokens":\[)[^,\]]+/u, wrong.token] as const)
            : ([/("logprobs":\[)[^,\]]+/u, wrong.logprob] as const)
        const client = yield* answering(
          "retrieve_future",
          (_, text) =>
            new Response(text.replace(pattern, `$1${value}`), { headers: { "content-type": "application/json" } })
        )
        const engine = yield* connect().pipe(Effect.provideService(HttpClient.HttpClient, client))
        const { message } = (yield* failing(engine.sample([Connect.request]))).error
        assert.match(message, /http:\/\/odd\.test \(inspo\): asample: the server gave an unusable result/u)
        assert.include(message, ` 0 of sequence 0 is ${value}, expected `)
      }).pipe(Effect.scoped, Effect.provide(served)),
    { arbitrary: { runs: 6 } }
  )

  it.live("is taken where rounding puts a probability of 1 a little above it", () =>
    Effect.gen(function* () {
      const client = yield* answering(
        "retrieve_future",
        (_, text) =>
          new Response(text.replace(/("logprobs":\[)[^,\]]+/u, "$10.0001"), {
            headers: { "content-type": "application/json" }
          })
      )
      const engine = yield* connect().pipe(Effect.provideService(HttpClient.HttpClient, client))
      const [sampled] = yield* engine.sample([Connect.request])
      assert.strictEqual(sampled?.sequences[0]?.logprobs[0], 0.0001)
    }).pipe(Effect.scoped, Effect.provide(served))
  )

  it.live("settles which model is trained: one that is not served is refused", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(connect({ model: "another", names: { model: "--model" } }))
      assert.match(
        error.message,
        /--model is another, which http:\/\/odd\.test does not serve; expected one of inspo-tiny/u
      )
    }).pipe(Effect.scoped, Effect.provide(served))
  )
})

/** A port at which nothing listens. */
const closedPort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })
