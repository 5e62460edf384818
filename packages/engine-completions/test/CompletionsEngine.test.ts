import { assert, describe, it } from "@effect/vitest"
import { Engine, type SampleRequest, type Tokenizer } from "@inspo/engine"
import * as CompletionsEngine from "@inspo/engine-completions"
import { TabularEngine } from "@inspo/engine/testing"
import { Effect, Fiber, Layer, Option, Redacted, Ref, Schema } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import * as Served from "./support/Served.ts"

const tabular = Layer.effect(Engine, TabularEngine.make)

/** One that takes a top-k, and makes nothing of it. */
const takingTopK = Layer.effect(
  Engine,
  Effect.map(TabularEngine.make, (engine) => ({ ...engine, profile: { ...engine.profile, topK: true } }))
)

const request: SampleRequest = {
  prompt: [1, 2, 3],
  n: 2,
  stop: [],
  maxTokens: 6,
  temperature: 1,
  topP: 1,
  seed: "test"
}

type Json = { readonly [key: string]: Schema.Json }

/** What becomes of one answer: it passes, another takes its place, or nothing comes. */
type Fault = (
  answer: Json
) => { readonly status?: number; readonly headers?: Record<string, string>; readonly body: unknown } | "reset" | "never"

/** The engine behind a server whose answers to samples suffer `faults`, one after the other, and pass after the last. */
const suffering = Effect.fnUntraced(function* (speaker: Served.Speaker, faults: ReadonlyArray<Fault>) {
  const context = yield* Layer.build(Served.inMemory(speaker))
  const inner = yield* Effect.provideContext(HttpClient.HttpClient, context)
  const left = yield* Ref.make<ReadonlyArray<Fault>>([])
  const asked = yield* Ref.make(0)
  const client = HttpClient.make((request) =>
    Effect.gen(function* () {
      const response = yield* inner.execute(request)
      if (request.method === "GET") return response
      yield* Ref.update(asked, (count) => count + 1)
      const [fault] = yield* Ref.getAndUpdate(left, (all) => all.slice(1))
      if (fault === undefined) return response
      const answer = fault(yield* Effect.orDie(decodeJson(yield* response.json)))
      if (answer === "never") return yield* Effect.never
      if (answer === "reset")
        return yield* new HttpClientError.HttpClientError({
          reason: new HttpClientError.TransportError({ request, description: "reset" })
        })
      const { body, headers = {}, status = 200 } = answer
      const text = typeof body === "string" ? body : JSON.stringify(body)
      return HttpClientResponse.fromWeb(request, new Response(text, { status, headers }))
    })
  )
  const { tokenizer } = yield* Engine
  const layer = CompletionsEngine.layer({
    url: "http://served.test",
    tokenizer,
    retryBudget: "1 minute",
    answerWithin: "20 seconds"
  }).pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient)(client)))
  const engine = yield* Effect.provideContext(Engine, yield* Layer.build(layer))
  yield* Ref.set(asked, 0)
  yield* Ref.set(left, faults)
  return { engine, asked: Ref.get(asked) }
})

const decodeJson = Schema.decodeUnknownEffect(Schema.Record(Schema.String, Schema.Json))

/** Runs an effect that waits on the test clock until it is done. */
const elapsing = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    while (fiber.pollUnsafe() === undefined) {
      yield* TestClock.adjust("1 second")
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    }
    return yield* Fiber.join(fiber)
  })

const status =
  (status: number, headers: Record<string, string> = {}): Fault =>
  () => ({ status, headers, body: { error: { message: "a proxy of the test" } } })

const edited =
  (change: (text: string) => string): Fault =>
  (answer) => ({ body: change(JSON.stringify(answer)) })

/** Faults after which the same sample comes all the same. */
const passing: Readonly<Record<string, ReadonlyArray<Fault>>> = {
  "a connection that breaks": [() => "reset"],
  "an answer that does not come": [() => "never"],
  "429 with Retry-After": [status(429, { "retry-after": "7" })],
  "500, 502 and 503": [status(500), status(502), status(503)],
  "a body that is cut off": [edited((text) => text.slice(0, text.length / 2))],
  "a failure within a 200": [
    () => ({ body: { error: { message: "the worker is restarting" } } }),
    () => ({ body: { object: "error", message: "out of memory", code: 503 } })
  ],
  "a page of a proxy": [() => ({ body: "<html>Bad gateway</html>" })]
}

/** Faults that stay, and what the error says of them. */
const staying: Readonly<Record<string, readonly [fault: Fault, reason: RegExp]>> = {
  "401": [status(401), /status 401: .*give the server's key with apiKey/u],
  "400": [status(400), /status 400: .*a proxy of the test/u],
  "500 for good": [status(500), /status 500/u],
  "a refusal within a 200": [
    () => ({ body: { error: { message: "prompt too long", code: 400 } } }),
    /status 400: prompt too long/u
  ],
  "no token ids": [
    edited((text) => text.replaceAll(/"token_ids":\[[^\]]*\],/gu, "").replaceAll("token_id:", "")),
    /no token ids, expected token_ids .* vLLM gives them from 0\.10\.2 on/u
  ],
  "no log-probabilities": [
    edited((text) => text.replaceAll(/"token_logprobs":\[[^\]]*\]/gu, '"token_logprobs":null')),
    /no logprobs\.token_logprobs/u
  ],
  "too few log-probabilities": [
    edited((text) => text.replaceAll(/("token_logprobs":\[)[^,\]]+,?/gu, "$1")),
    /\d+ log-probabilities of \d+ tokens/u
  ],
  "a log-probability that is null": [
    edited((text) => text.replaceAll(/("token_logprobs":\[)[^,\]]+/gu, "$1null")),
    /request test: choices\[0\]: log-probability 0 is null, expected a finite number of at most 0/u
  ],
  "a log-probability above 0": [
    edited((text) => text.replaceAll(/("token_logprobs":\[)[^,\]]+/gu, "$15")),
    /log-probability 0 is 5, expected a finite number of at most 0/u
  ],
  "an infinite log-probability": [
    edited((text) => text.replaceAll(/("token_logprobs":\[)[^,\]]+/gu, "$1-1e999")),
    /log-probability 0 is -Infinity/u
  ],
  "a token id below 0": [
    edited((text) => text.replaceAll(/("token_ids":\[)[^,\]]+/gu, "$1-5")),
    /request test: token 0 of sequence 0 is -5, expected 0 to \d+, the ids of the tokenizer/u
  ],
  "a token id beyond the vocabulary": [
    edited((text) => text.replaceAll(/("token_ids":\[)[^,\]]+/gu, "$11000000000")),
    /token 0 of sequence 0 is 1000000000/u
  ],
  "too few sequences": [
    (answer) => ({ body: { choices: Array.isArray(answer["choices"]) ? answer["choices"].slice(1) : [] } }),
    /1 sequences, expected 2/u
  ],
  "too many tokens": [
    edited((text) =>
      text
        .replaceAll(/("token_ids":\[)/gu, "$11,1,1,1,1,1,1,")
        .replaceAll(/("token_logprobs":\[)/gu, "$1-1,-1,-1,-1,-1,-1,-1,")
    ),
    /expected at most 6/u
  ],
  "an aborted sequence": [
    edited((text) => text.replaceAll(/"finish_reason":"\w+"/gu, '"finish_reason":"abort"')),
    /finish reason abort/u
  ]
}

describe("CompletionsEngine", () => {
  for (const [name, faults] of Object.entries(passing)) {
    it.effect(`gives the same sample after ${name}`, () =>
      Effect.gen(function* () {
        const { engine: plain } = yield* suffering("vllm", [])
        const expected = yield* plain.sample([request])
        const { asked, engine } = yield* suffering("vllm", faults)
        assert.deepStrictEqual(yield* elapsing(engine.sample([request])), expected)
        assert.strictEqual(yield* asked, faults.length + 1)
      }).pipe(Effect.scoped, Effect.provide(tabular))
    )
  }

  it.effect("waits as long as Retry-After says", () =>
    Effect.gen(function* () {
      const { asked, engine } = yield* suffering("vllm", [status(429, { "retry-after": "7" })])
      const fiber = yield* Effect.forkChild(engine.sample([request]))
      yield* TestClock.adjust("6 seconds")
      assert.strictEqual(yield* asked, 1)
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(fiber)
      assert.strictEqual(yield* asked, 2)
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  for (const [name, [fault, reason]] of Object.entries(staying)) {
    it.effect(`stops with a clear error at ${name}`, () =>
      Effect.gen(function* () {
        const { engine } = yield* suffering(
          "vllm",
          Array.from({ length: 100 }, () => fault)
        )
        const error = yield* Effect.flip(elapsing(engine.sample([request])))
        assert.strictEqual(error.operation, "sample")
        assert.match(error.reason, reason)
        assert.include(error.reason, "http://served.test")
      }).pipe(Effect.scoped, Effect.provide(tabular))
    )
  }

  it.effect("reads token ids that older servers write in place of texts", () =>
    Effect.gen(function* () {
      const older = edited((text) => text.replaceAll(/"token_ids":\[[^\]]*\],/gu, ""))
      const { engine: plain } = yield* suffering("vllm", [])
      const { engine } = yield* suffering("vllm", [older])
      assert.deepStrictEqual(yield* engine.sample([request]), yield* plain.sample([request]))
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  for (const speaker of ["vllm", "sglang"] as const) {
    it.effect(`scores a frozen policy as the engine behind the server does, ${speaker}`, () =>
      Effect.gen(function* () {
        const inner = yield* Engine
        const { engine } = yield* suffering(speaker, [])
        const sequences = [
          { prompt: [1, 2], response: [3, 4, 5] },
          { prompt: [7], response: [] }
        ]
        const expected = yield* inner.score("current", sequences)
        assert.strictEqual(engine.profile.scoresReference, true)
        assert.deepStrictEqual(yield* engine.score("current", sequences), expected)
        assert.deepStrictEqual(yield* engine.score("reference", sequences), expected)
      }).pipe(Effect.scoped, Effect.provide(tabular))
    )
  }

  it.effect.prop(
    "asks every server for the distribution that is trained, whatever its model's defaults are",
    [
      Schema.Literals(["vllm", "sglang", "llama.cpp"]),
      Schema.Literals([0.5, 1]),
      Schema.Literals([0.8, 1]),
      Schema.Literals([0, 7])
    ],
    ([speaker, temperature, topP, topK]) =>
      Effect.gen(function* () {
        const inner = yield* Effect.provideContext(HttpClient.HttpClient, yield* Layer.build(Served.inMemory(speaker)))
        const bodies: Array<Json> = []
        const client = HttpClient.make((request) =>
          Effect.gen(function* () {
            if (request.body._tag === "Uint8Array" && !request.url.endsWith("/tokenize"))
              bodies.push(yield* Effect.orDie(decodeJson(JSON.parse(new TextDecoder().decode(request.body.body)))))
            return yield* inner.execute(request)
          })
        )
        const { tokenizer } = yield* Engine
        const layer = CompletionsEngine.layer({ url: "http://served.test", tokenizer }).pipe(
          Layer.provide(Layer.succeed(HttpClient.HttpClient)(client))
        )
        const engine = yield* Effect.provideContext(Engine, yield* elapsing(Layer.build(layer)))
        yield* elapsing(engine.sample([{ ...request, temperature, topP, ...(topK > 0 ? { topK } : {}) }]))
        if (speaker !== "llama.cpp") yield* elapsing(engine.score("current", [{ prompt: [1], response: [2, 3] }]))
        assert.isAbove(bodies.length, 2)
        if (topK > 0) assert.isTrue(JSON.stringify(bodies).includes('"top_k":7'))
        for (const body of bodies) {
          const sent = Schema.decodeUnknownOption(Schema.Record(Schema.String, Schema.Json))(body["sampling_params"])
          const params = Option.getOrElse(sent, () => body)
          const repetition = speaker === "llama.cpp" ? "repeat_penalty" : "repetition_penalty"
          assert.deepInclude(params, { [repetition]: 1, presence_penalty: 0, frequency_penalty: 0, min_p: 0 })
          const all = speaker === "llama.cpp" ? 0 : -1
          assert.include(topK > 0 ? [all, topK] : [all], params["top_k"])
          assert.include([1, topP], params["top_p"])
        }
      }).pipe(Effect.scoped, Effect.provide(takingTopK)),
    { arbitrary: { runs: 12 } }
  )

  it.effect("gives every log-probability that llama.cpp's server leaves out, whichever they are", () =>
    Effect.gen(function* () {
      const inner = yield* Engine
      const { asked, engine } = yield* suffering("llama.cpp", [])
      const requests = Array.from({ length: 20 }, (_, index) => ({ ...request, maxTokens: 12, seed: String(index) }))
      const results = yield* engine.sample(requests)
      const sequences = results.flatMap((result) => result.sequences)
      assert.isAbove(yield* asked, sequences.length)
      const scores = yield* inner.score(
        "current",
        sequences.map(({ tokens }) => ({ prompt: request.prompt, response: tokens }))
      )
      for (const [index, { logprobs }] of sequences.entries())
        logprobs.forEach((logprob, at) => assert.closeTo(logprob, scores[index]?.[at] ?? NaN, 1e-9))
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  it.effect("refuses a tokenizer that is not the server's, and says early that llama.cpp cannot score", () =>
    Effect.gen(function* () {
      const { tokenizer } = yield* Engine
      const connect = (made: Tokenizer) =>
        Effect.flatMap(Layer.build(Served.engine("llama.cpp", { client: { tokenizer: made } })), (context) =>
          Effect.provideContext(Engine, context)
        )
      const engine = yield* connect(tokenizer)
      assert.strictEqual(engine.profile.scoresReference, false)
      assert.strictEqual(engine.profile.concurrency, 4)
      const wrong = { ...tokenizer, encode: (text: string) => tokenizer.encode(text).toReversed() }
      const error = yield* Effect.flip(connect(wrong))
      assert.match(error.message, /engine\.tokenizer is not the tokenizer of its model/u)
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  it.effect("draws each of several sequences from a stream of its own where a request gives one", () =>
    Effect.gen(function* () {
      const { asked, engine } = yield* suffering("sglang", [])
      const [sampled] = yield* engine.sample([{ ...request, n: 4 }])
      assert.strictEqual(yield* asked, 4)
      assert.isAbove(new Set(sampled?.sequences.map(({ tokens }) => tokens.join())).size, 1)
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  it.effect("says so where the server gives no log-probabilities of a prompt", () =>
    Effect.gen(function* () {
      const { tokenizer } = yield* Engine
      const inner = yield* Effect.provideContext(HttpClient.HttpClient, yield* Layer.build(Served.inMemory("vllm")))
      const client = HttpClient.make((request) =>
        Effect.gen(function* () {
          const response = yield* inner.execute(request)
          const text = yield* response.text
          return HttpClientResponse.fromWeb(
            request,
            new Response(text.replaceAll(/"prompt_logprobs":\[.*?\]/gu, '"prompt_logprobs":null'))
          )
        })
      )
      const layer = CompletionsEngine.layer({ url: "http://served.test", tokenizer }).pipe(
        Layer.provide(Layer.succeed(HttpClient.HttpClient)(client))
      )
      const engine = yield* Effect.provideContext(Engine, yield* elapsing(Layer.build(layer)))
      assert.strictEqual(engine.profile.scoresReference, false)
      const error = yield* Effect.flip(engine.score("reference", [{ prompt: [1], response: [2] }]))
      assert.match(error.reason, /no log-probabilities of a prompt, which a KL term needs/u)
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  it.effect("is a frozen policy, and says how to go on", () =>
    Effect.gen(function* () {
      const { engine } = yield* suffering("vllm", [])
      assert.strictEqual(engine.profile.trains, false)
      const saved = yield* engine.save("anything")
      yield* engine.restore(saved)
      const other = yield* Effect.flip(engine.restore({ uri: "tinker://other", hash: "" }))
      assert.match(other.reason, /expected frozen:served: .* serves one policy/u)
      const training = yield* Effect.flip(
        engine.train({
          key: "0",
          datums: [],
          loss: { clipRatio: 0.2, klCoefficient: 0 },
          optimizer: { learningRate: 0.1, beta1: 0.9, beta2: 0.999, weightDecay: 0, gradientClip: 1 }
        })
      )
      assert.match(training.reason, /samples and does not train; evolve instructions alone/u)
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  it.effect("brings its key to the server, and never into an error", () =>
    Effect.gen(function* () {
      const secret = Redacted.make("sk-secret")
      const connect = (apiKey: Redacted.Redacted | null) =>
        Layer.build(Served.engine("vllm", { apiKey: secret, client: { apiKey } }))
      yield* connect(secret)
      for (const wrong of [Redacted.make("sk-other"), null]) {
        const error = yield* Effect.flip(connect(wrong))
        assert.match(error.message, /status 401: .*does not hold this server's key/u)
        assert.notInclude(JSON.stringify(error), "sk-")
      }
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  it.effect("refuses a model that is not served, naming those that are", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Layer.build(Served.engine("vllm", { client: { model: "other" } })))
      assert.match(error.reason, /model is "other", which .* does not serve; expected one of served/u)
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  it.effect("keeps as many requests in flight as it may, and no more", () =>
    Effect.gen(function* () {
      const inner = yield* Effect.provideContext(HttpClient.HttpClient, yield* Layer.build(Served.inMemory("vllm")))
      const { tokenizer } = yield* Engine
      let [now, most] = [0, 0]
      const client = HttpClient.make((request) =>
        Effect.suspend(() => {
          most = Math.max(most, ++now)
          return inner.execute(request)
        }).pipe(Effect.ensuring(Effect.sync(() => now--)))
      )
      const layer = CompletionsEngine.layer({ url: "http://served.test", tokenizer, concurrency: 3 }).pipe(
        Layer.provide(Layer.succeed(HttpClient.HttpClient)(client))
      )
      const engine = yield* Effect.provideContext(Engine, yield* elapsing(Layer.build(layer)))
      yield* elapsing(engine.sample(Array.from({ length: 20 }, (_, index) => ({ ...request, seed: String(index) }))))
      assert.strictEqual(most, 3)
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )
})
