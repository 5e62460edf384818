import { Protobuf } from "@inspo/engine-tinker"
/** @module-tag deep */
import { assert, describe, it } from "@effect/vitest"
import { Engine, type SampleRequest } from "@inspo/engine"
import { TabularEngine } from "@inspo/engine/testing"
import type * as TinkerEngine from "@inspo/engine-tinker"
import { type Duration, Effect, Layer } from "effect"
import { HttpBody, HttpClient, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { connect, request } from "./support/Connect.ts"
import * as InMemory from "./support/InMemory.ts"

/** A server whose engine takes so many milliseconds to sample. */
const server = (delay: number, longPoll: Duration.Input = "20 seconds") => {
  const slow = Effect.map(TabularEngine.make, (engine) => ({
    ...engine,
    sample: (requests: ReadonlyArray<SampleRequest>) => Effect.delay(engine.sample(requests), delay)
  }))
  return InMemory.layer({ longPoll }).pipe(Layer.provide(Layer.effect(Engine, slow)))
}

const requests = [0, 1, 2].map((index): SampleRequest => ({ ...request, seed: `test/${index}` }))

type Answer = (
  request: HttpClientRequest.HttpClientRequest,
  response: HttpClientResponse.HttpClientResponse
) => HttpClientResponse.HttpClientResponse

/** Samples, and the paths that were asked for them; `answer` may replace the server's answers to `asample`. */
const sampling = Effect.fnUntraced(function* (
  options: Partial<TinkerEngine.TinkerEngineOptions> = {},
  answer: Answer = (_, response) => response
) {
  const inner = yield* HttpClient.HttpClient
  const asked: Array<string> = []
  const client = HttpClient.make((request) => {
    const path = request.url.slice(request.url.lastIndexOf("/") + 1)
    asked.push(path)
    const response = inner.execute(request)
    return path === "asample" ? Effect.map(response, (received) => answer(request, received)) : response
  })
  const engine = yield* Effect.provideService(connect(options), HttpClient.HttpClient, client)
  // The first request makes the sampler.
  yield* engine.sample(requests.slice(0, 1))
  const before = asked.length
  const samples = yield* engine.sample(requests)
  return { samples, paths: asked.slice(before).filter((path) => path !== "session_heartbeat") }
})

const expected = Effect.flatMap(TabularEngine.make, ({ sample }) => sample(requests))

const single = (samples: Effect.Success<typeof expected>) =>
  samples.map(({ sequences }) =>
    sequences.map((one) => ({ ...one, logprobs: Array.from(new Float32Array(one.logprobs)) }))
  )

describe("samples that are there soon", () => {
  it.live("come in the answer to their request", () =>
    Effect.gen(function* () {
      const { paths, samples } = yield* sampling()
      assert.deepStrictEqual(single(samples), single(yield* expected))
      assert.deepStrictEqual(paths, ["asample", "asample", "asample"])
    }).pipe(Effect.scoped, Effect.provide(server(20)))
  )

  it.live("are retrieved where they take longer, or the client wants JSON", () =>
    Effect.gen(function* () {
      const late = yield* sampling()
      const json = yield* sampling({ encoding: "json" })
      for (const { paths, samples } of [late, json]) {
        assert.deepStrictEqual(single(samples), single(yield* expected))
        assert.strictEqual(paths.filter((path) => path === "asample").length, 3)
        assert.isAtLeast(paths.filter((path) => path === "retrieve_future").length, 3)
      }
    }).pipe(Effect.scoped, Effect.provide(server(200, "20 millis")))
  )

  it.live("are retrieved where the answer cannot be used", () =>
    Effect.gen(function* () {
      const { paths, samples } = yield* sampling({}, (request, response) =>
        response.headers["content-type"] === Protobuf.contentType
          ? HttpClientResponse.fromWeb(
              request,
              new Response(new Uint8Array([255]), { headers: { "content-type": Protobuf.contentType } })
            )
          : response
      )
      assert.deepStrictEqual(single(samples), single(yield* expected))
      assert.strictEqual(paths.filter((path) => path === "retrieve_future").length, 3)
    }).pipe(Effect.scoped, Effect.provide(server(20)))
  )

  it.live("are only given at once to a client that asks for it, in protobuf", () =>
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      const body = HttpBody.jsonUnsafe({
        base_model: "inspo-tiny",
        prompt: { chunks: [{ type: "encoded_text", tokens: [1, 2] }] },
        sampling_params: { max_tokens: 4 }
      })
      const ask = Effect.fnUntraced(function* (headers: Readonly<Record<string, string>>) {
        const response = yield* client.post("http://inspo.test/api/v1/asample", { headers, body })
        return response.headers["content-type"]
      })
      const protobuf = { accept: Protobuf.contentType }
      assert.strictEqual(yield* ask({ ...protobuf, prefer: "respond-async, wait=5" }), Protobuf.contentType)
      for (const headers of [{}, protobuf, { prefer: "wait=5" }, { ...protobuf, prefer: "wait=no" }])
        assert.strictEqual(yield* ask(headers), "application/json", JSON.stringify(headers))
    }).pipe(Effect.scoped, Effect.provide(server(20)))
  )
})
