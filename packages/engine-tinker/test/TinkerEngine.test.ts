import { assert, describe, it } from "@effect/vitest"
import { Engine, type TrainRequest } from "@inspo/engine"
import { TabularEngine } from "@inspo/engine/testing"
import { Effect, Layer, Redacted, Ref } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { connect, request } from "./support/Connect.ts"
import * as InMemory from "./support/InMemory.ts"

const server = (options: Parameters<typeof InMemory.layer>[0] = {}) =>
  InMemory.layer(options).pipe(Layer.provide(Layer.effect(Engine, TabularEngine.make)))

const training = (key: string, advantage: number): TrainRequest => ({
  key,
  datums: [
    { prompt: [1, 2], response: [3, 4], logprobs: [-3, -3], advantages: [advantage, advantage], weights: [0.5, 0.5] }
  ],
  loss: { clipRatio: 0.2, klCoefficient: 0 },
  optimizer: { learningRate: 0.5, beta1: 0.9, beta2: 0.999, weightDecay: 0, gradientClip: 1 }
})

/** The client, whose next request of `path` is carried out without an answer. */
const losing = Effect.fnUntraced(function* (path: string) {
  const inner = yield* HttpClient.HttpClient
  const armed = yield* Ref.make(true)
  const client = HttpClient.make((request) =>
    Effect.gen(function* () {
      const response = yield* inner.execute(request)
      if (!request.url.endsWith(path) || !(yield* Ref.getAndSet(armed, false))) return response
      const reason = new HttpClientError.TransportError({ request, description: "reset" })
      return yield* new HttpClientError.HttpClientError({ reason })
    })
  )
  return client
})

describe("TinkerEngine", () => {
  it.live("takes nothing but a restore once it is unknown whether a gradient was done", () =>
    Effect.gen(function* () {
      const client = yield* losing("forward_backward")
      const engine = yield* connect({ profile: "verl" }).pipe(Effect.provideService(HttpClient.HttpClient, client))
      const saved = yield* engine.save("start")
      const before = yield* engine.sample([request])
      const error = yield* Effect.flip(engine.train(training("0", 1)))
      assert.match(error.reason, /unknown whether the server did it/u)
      const operations = [
        Effect.asVoid(engine.sample([request])),
        Effect.asVoid(engine.train(training("0", 1))),
        Effect.asVoid(engine.save("next"))
      ]
      for (const operation of operations)
        assert.match((yield* Effect.flip(operation)).reason, /in doubt .* restore a checkpoint/u)
      yield* engine.restore(saved)
      assert.deepStrictEqual(yield* engine.sample([request]), before)
    }).pipe(Effect.scoped, Effect.provide(server()))
  )

  it.live("sends no batch whose lists do not fit, and stays as sound as it was", () =>
    Effect.gen(function* () {
      const engine = yield* connect()
      const { datums, ...rest } = training("0", 1)
      const broken = (change: Partial<TrainRequest["datums"][number]>) =>
        Effect.flip(engine.train({ ...rest, datums: datums.map((datum) => ({ ...datum, ...change })) }))
      for (const name of ["logprobs", "advantages", "weights"] as const) {
        const { reason } = yield* broken({ [name]: [0.5] })
        assert.include(reason, `datums[0].${name} holds 1 values, expected 2, one per response token`)
        assert.include((yield* broken({ [name]: [0.5, NaN] })).reason, `datums[0].${name}[1] is NaN`)
      }
      assert.include((yield* broken({ prompt: [] })).reason, "datums[0].prompt is empty")
      const unscored = yield* Effect.flip(engine.score("current", [{ prompt: [], response: [1] }]))
      assert.include(unscored.reason, "sequences[0].prompt is empty")
      const { tokens } = yield* engine.train(training("0", 1))
      assert.strictEqual(tokens, 2)
    }).pipe(Effect.scoped, Effect.provide(server()))
  )

  it.live("sends a gradient again where the server counts it once", () =>
    Effect.gen(function* () {
      const plain = yield* connect()
      yield* plain.train(training("0", 1))
      const client = yield* losing("forward_backward")
      const engine = yield* connect().pipe(Effect.provideService(HttpClient.HttpClient, client))
      yield* engine.train(training("0", 1))
      const sequence = { prompt: [1, 2], response: [3, 4] }
      assert.deepStrictEqual(yield* engine.score("current", [sequence]), yield* plain.score("current", [sequence]))
    }).pipe(Effect.scoped, Effect.provide(server()))
  )

  it.live("compresses gradients where the server asks for it", () =>
    Effect.gen(function* () {
      const inner = yield* HttpClient.HttpClient
      const encodings = yield* Ref.make<ReadonlyArray<string | undefined>>([])
      const client = HttpClient.make((request) =>
        Effect.gen(function* () {
          if (request.url.endsWith("forward_backward"))
            yield* Ref.update(encodings, (seen) => [...seen, request.headers["content-encoding"]])
          const response = yield* inner.execute(request)
          return request.url.endsWith("client/config")
            ? HttpClientResponse.fromWeb(request, Response.json({ proto_compress_fwdbwd: true }))
            : response
        })
      )
      const plain = yield* connect()
      const engine = yield* connect().pipe(Effect.provideService(HttpClient.HttpClient, client))
      assert.deepStrictEqual(yield* engine.train(training("0", 1)), yield* plain.train(training("0", 1)))
      assert.deepStrictEqual(yield* Ref.get(encodings), ["zstd"])
    }).pipe(Effect.scoped, Effect.provide(server()))
  )

  it.live("does not disturb other clients of the same server", () =>
    Effect.gen(function* () {
      const alone = yield* connect()
      yield* alone.train(training("0", 1))
      const expected = yield* alone.sample([request])
      yield* alone.train(training("1", 1))
      const further = yield* alone.sample([request])

      const [one, two] = [yield* connect(), yield* connect()]
      yield* one.train(training("0", 1))
      yield* two.train(training("0", -1))
      assert.deepStrictEqual(yield* one.sample([request]), expected)
      assert.notDeepEqual(yield* two.sample([request]), expected)
      yield* one.train(training("1", 1))
      yield* two.train(training("1", -1))
      assert.deepStrictEqual(yield* one.sample([request]), further)
    }).pipe(Effect.scoped, Effect.provide(server()))
  )

  it.live("brings its key to the server, and never into an error", () =>
    Effect.gen(function* () {
      yield* connect({ apiKey: Redacted.make("tml-secret") })
      for (const apiKey of [Redacted.make("tml-other"), null]) {
        const error = yield* Effect.flip(connect({ apiKey }))
        assert.match(error.message, /401: the header X-API-Key does not hold this server's key/u)
        assert.notInclude(JSON.stringify(error), "tml-")
      }
    }).pipe(Effect.scoped, Effect.provide(server({ apiKey: Redacted.make("tml-secret") })))
  )

  it.live("refuses an unusable result, naming what is wrong with it", () =>
    Effect.gen(function* () {
      const inner = yield* HttpClient.HttpClient
      const client = HttpClient.make((request) =>
        Effect.gen(function* () {
          const response = yield* inner.execute(request)
          if (!request.url.endsWith("retrieve_future")) return response
          const text = yield* response.text
          return HttpClientResponse.fromWeb(
            request,
            new Response(text.replaceAll(/"logprobs":\[[^,]+,/gu, '"logprobs":['), {
              headers: { "content-type": "application/json" }
            })
          )
        })
      )
      const engine = yield* connect({ encoding: "json" }).pipe(Effect.provideService(HttpClient.HttpClient, client))
      const error = yield* Effect.flip(engine.sample([request]))
      assert.match(error.reason, /asample: the server gave an unusable result 200: 5 log-probabilities of 6 tokens/u)
    }).pipe(Effect.scoped, Effect.provide(server()))
  )
})
