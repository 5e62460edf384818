import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import { Engine, type SampleRequest } from "@inspo/engine"
import { Wire } from "@inspo/engine-completions"
import * as Server from "@inspo/engine-completions/server"
import { TabularEngine } from "@inspo/engine/testing"
import { Deferred, Effect, Fiber, Layer, Ref, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"

const tabular = Layer.effect(Engine, TabularEngine.make)

/** A server over an engine, asked by requests of the web. */
const serving = Effect.fnUntraced(function* (options: Partial<Server.CompletionsServerOptions> = {}) {
  const engine = yield* Engine
  const routes = Server.routes.pipe(
    Layer.provide(Server.layer({ model: "org/served", ...options })),
    Layer.provide(Layer.succeed(Engine)(engine))
  )
  const { dispose, handler } = HttpRouter.toWebHandler(routes, { disableLogger: true })
  yield* Effect.addFinalizer(() => Effect.promise(dispose))
  const send = (path: string, init?: RequestInit) =>
    Effect.promise(() => handler(new Request(`http://localhost${path}`, init)))
  const post = (body: unknown) => send("/v1/completions", { method: "POST", body: JSON.stringify(body) })
  const complete = Effect.fnUntraced(function* (body: object) {
    const response = yield* post(body)
    const text = yield* Effect.promise(() => response.text())
    assert.strictEqual(response.status, 200, text)
    return yield* Effect.orDie(decodeResponse(JSON.parse(text)))
  })
  const refused = Effect.fnUntraced(function* (body: unknown) {
    const response = yield* post(body)
    const { error } = yield* Effect.orDie(decodeError(yield* Effect.promise(() => response.json())))
    return { status: response.status, headers: response.headers, ...error }
  })
  return { send, complete, refused, engine }
})

const decodeResponse = Schema.decodeUnknownEffect(Wire.CompletionResponse)
const decodeError = Schema.decodeUnknownEffect(
  Schema.Struct({
    error: Schema.Struct({
      message: Schema.String,
      type: Schema.String,
      param: Schema.NullOr(Schema.String),
      code: Schema.NullOr(Schema.String)
    })
  })
)

const Prompt = Schema.Literals(["Who", "a b c", "The mayor"])

/** What this server cannot do, and the field that says so. */
const refusals: ReadonlyArray<readonly [field: string, change: object]> = [
  ["top_k", { top_k: 5 }],
  ["min_p", { min_p: 0.1 }],
  ["repetition_penalty", { repetition_penalty: 1.05 }],
  ["presence_penalty", { presence_penalty: 0.5 }],
  ["frequency_penalty", { frequency_penalty: -1 }],
  ["logit_bias", { logit_bias: { 5: 1 } }],
  ["suffix", { suffix: "." }],
  ["best_of", { n: 2, best_of: 3 }],
  ["logprobs", { logprobs: 5 }],
  ["prompt_logprobs", { prompt_logprobs: 1 }],
  ["skip_special_tokens", { skip_special_tokens: true }],
  ["temperature", { temperature: -1 }],
  ["top_p", { top_p: 0 }],
  ["n", { n: 1_000_000 }],
  ["n", { n: 0 }],
  ["max_tokens", { max_tokens: 1_000_000 }],
  ["max_tokens", { max_tokens: 0 }],
  ["prompt", { prompt: [] }],
  ["prompt", { prompt: "" }],
  ["prompt", { prompt: [1, -5] }],
  ["prompt", { prompt: [1, 1e9] }],
  ["prompt", { prompt: Array.from({ length: 300 }, () => "a") }],
  ["prompt", { prompt: ["a", 1] }],
  ["stop", { stop: ["a", ""] }],
  ["stop", { stop: Array.from({ length: 65 }, () => "a") }],
  ["echo", { echo: "yes" }],
  ["guided_json", { guided_json: {} }]
]

describe("CompletionsServer", () => {
  it.effect.prop(
    "answers every prompt, n times each, in order, and counts the tokens",
    [Schema.NonEmptyArray(Prompt), Schema.Literals([1, 2, 3])],
    ([prompts, n]) =>
      Effect.gen(function* () {
        const { complete, engine } = yield* serving()
        const { decode, encode } = engine.tokenizer
        const asked = { model: "org/served", n, max_tokens: 5, seed: 7, return_token_ids: true }
        const texts = yield* complete({ ...asked, prompt: prompts })
        assert.deepStrictEqual(
          texts.choices.map(({ index, prompt_token_ids }) => [index, decode(prompt_token_ids ?? [])]),
          prompts.flatMap((prompt, at) => Array.from({ length: n }, (_, index) => [at * n + index, prompt]))
        )
        const tokens = yield* complete({ ...asked, prompt: prompts.map(encode) })
        assert.deepStrictEqual(tokens.choices, texts.choices)
        const completion = texts.choices.reduce((sum, { token_ids }) => sum + (token_ids?.length ?? 0), 0)
        const prompt = prompts.reduce((sum, text) => sum + encode(text).length, 0)
        assert.deepStrictEqual(texts.usage, {
          prompt_tokens: prompt,
          completion_tokens: completion,
          total_tokens: prompt + completion
        })
        assert.match(texts.id ?? "", /^cmpl-\d+$/u)
        assert.include(texts, { object: "text_completion", model: "org/served" })
      }).pipe(Effect.scoped, Effect.provide(tabular)),
    { arbitrary: { runs: 25 } }
  )

  it.effect("writes the text without what ended it", () =>
    Effect.gen(function* () {
      const { complete, engine } = yield* serving()
      const { decode, endOfSequence } = engine.tokenizer
      const { choices } = yield* complete({ prompt: "Who", n: 40, max_tokens: 40, stop: ["e"], return_token_ids: true })
      const endings = new Set(
        choices.map(({ finish_reason, text, token_ids }) => {
          const tokens = token_ids ?? []
          const ending = finish_reason === "length" ? "length" : tokens.at(-1) === endOfSequence ? "end" : "stop"
          assert.strictEqual(text, decode(ending === "length" ? tokens : tokens.slice(0, -1)))
          return ending
        })
      )
      assert.isAbove(endings.size, 1)
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  it.effect("finds stop texts of several tokens where the engine takes single tokens only", () =>
    Effect.gen(function* () {
      const inner = yield* Engine
      const taken = yield* Ref.make<ReadonlyArray<string>>([])
      const engine = Engine.of({
        ...inner,
        profile: { ...inner.profile, stopTexts: "single-token" },
        sample: (requests) =>
          Effect.andThen(
            Ref.update(taken, (all) => [...all, ...requests.flatMap(({ stop }) => stop)]),
            inner.sample(requests)
          )
      })
      const { complete } = yield* Effect.provideService(serving(), Engine, engine)
      const asked = { prompt: "Who", n: 8, max_tokens: 40, seed: 3, return_token_ids: true }
      const free = yield* complete(asked)
      const part = free.choices[0]?.text?.slice(3, 5) ?? ""
      const stopped = yield* complete({ ...asked, stop: [part] })
      assert.lengthOf(part, 2)
      assert.deepStrictEqual(yield* Ref.get(taken), [])
      assert.deepStrictEqual(
        stopped.choices.map(({ text }) => text),
        free.choices.map(({ text }) => text?.split(part, 1)[0])
      )
      assert.strictEqual(stopped.choices[0]?.finish_reason, "stop")
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  it.effect("echoes the prompt with the log-probabilities that the engine gives it", () =>
    Effect.gen(function* () {
      const { complete, engine } = yield* serving()
      const prompt = engine.tokenizer.encode("The mayor")
      const { choices } = yield* complete({ prompt, echo: true, logprobs: 0, max_tokens: 4, return_token_ids: true })
      const [choice] = choices
      const tokens = choice?.token_ids ?? []
      const [scores] = yield* engine.score("current", [
        { prompt: prompt.slice(0, 1), response: [...prompt.slice(1), ...tokens] }
      ])
      assert.isTrue(choice?.text?.startsWith("The mayor"))
      assert.deepStrictEqual(choice?.logprobs?.token_logprobs, [null, ...(scores ?? [])])
      assert.deepStrictEqual(choice?.logprobs?.tokens?.join(""), engine.tokenizer.decode([...prompt, ...tokens]))
      const alone = yield* complete({ prompt, echo: true, logprobs: 0, max_tokens: 0 })
      assert.strictEqual(alone.choices[0]?.text, "The mayor")
      assert.deepStrictEqual(alone.choices[0]?.logprobs?.token_logprobs, [
        null,
        ...(scores ?? []).slice(0, prompt.length - 1)
      ])
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  it.effect("streams what it answers otherwise", () =>
    Effect.gen(function* () {
      const { complete, send } = yield* serving()
      const asked = { prompt: ["Who", "a b c"], n: 2, max_tokens: 5, seed: 1 }
      const plain = yield* complete(asked)
      const response = yield* send("/v1/completions", {
        method: "POST",
        body: JSON.stringify({ ...asked, stream: true, stream_options: { include_usage: true } })
      })
      assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
      const events = (yield* Effect.promise(() => response.text())).split("\n\n")
      assert.deepStrictEqual(events.slice(-2), ["data: [DONE]", ""])
      const bodies = yield* Effect.forEach(events.slice(0, -2), (event) =>
        Effect.orDie(decodeResponse(JSON.parse(event.replace("data: ", ""))))
      )
      assert.deepStrictEqual(
        bodies.flatMap(({ choices }) => choices),
        plain.choices
      )
      assert.deepStrictEqual(bodies.at(-1)?.usage, plain.usage)
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  for (const [field, change] of refusals)
    it.effect(`refuses ${JSON.stringify(change).slice(0, 60)}, naming ${field}`, () =>
      Effect.gen(function* () {
        const { refused } = yield* serving()
        const { message, param, status, type } = yield* refused({ prompt: "Who", ...change })
        assert.deepStrictEqual({ status, type, param }, { status: 400, type: "invalid_request_error", param: field })
        assert.include(message, field)
        assert.match(message, /xpected/u)
      }).pipe(Effect.scoped, Effect.provide(tabular))
    )

  it.effect("takes what OpenAI's clients send when nothing is asked for", () =>
    Effect.gen(function* () {
      const { complete } = yield* serving()
      const { choices } = yield* complete({
        prompt: "Who",
        best_of: 1,
        frequency_penalty: 0,
        presence_penalty: 0,
        logit_bias: null,
        logprobs: null,
        suffix: null,
        user: "somebody"
      })
      assert.lengthOf(choices, 1)
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  it.effect("tells its model, and refuses every other name and path in OpenAI's words", () =>
    Effect.gen(function* () {
      const { refused, send } = yield* serving()
      const json = (path: string) => Effect.flatMap(send(path), (response) => Effect.promise(() => response.json()))
      const [model] = (yield* Effect.orDie(decodeModels(yield* json("/v1/models")))).data
      assert.include(model, { id: "org/served", object: "model", owned_by: "inspo" })
      assert.deepStrictEqual(yield* json("/v1/models/org/served"), model)
      assert.deepStrictEqual(yield* json("/v1/models/org%2Fserved"), model)
      for (const path of ["/v1/models/other", "/v1/chat/completions"]) {
        const response = yield* send(path)
        const { error } = yield* Effect.orDie(decodeError(yield* Effect.promise(() => response.json())))
        assert.deepInclude({ status: response.status, ...error }, { status: 404, code: "not_found" })
      }
      assert.include(yield* refused({ prompt: "Who", model: "other" }), { status: 404, param: "model" })
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  it.effect("takes so many requests at once, and asks the next to come again", () =>
    Effect.gen(function* () {
      const inner = yield* Engine
      const gate = yield* Deferred.make<void>()
      const began = yield* Deferred.make<void>()
      const engine = Engine.of({
        ...inner,
        sample: (requests) =>
          Deferred.succeed(began, undefined).pipe(
            Effect.andThen(Deferred.await(gate)),
            Effect.andThen(inner.sample(requests))
          )
      })
      const { complete, refused, send } = yield* Effect.provideService(serving({ maxOpen: 1 }), Engine, engine)
      const first = yield* Effect.forkChild(complete({ prompt: "Who" }))
      yield* Deferred.await(began)
      const { headers, message, status } = yield* refused({ prompt: "Who" })
      assert.deepStrictEqual([status, headers.get("retry-after")], [429, "1"])
      assert.include(message, "as many sequences as this server samples at once, 1;")
      assert.strictEqual((yield* send("/v1/models")).status, 200)
      yield* Deferred.succeed(gate, undefined)
      assert.lengthOf((yield* Fiber.join(first)).choices, 1)
      yield* complete({ prompt: "Who" })
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  it.live("ends the work of a client that is gone, and goes on for the others", () =>
    Effect.gen(function* () {
      const inner = yield* Engine
      const began = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const hangs = ({ maxTokens }: SampleRequest) => maxTokens === 9
      const engine = Engine.of({
        ...inner,
        sample: (requests) =>
          requests.some(hangs)
            ? Deferred.succeed(began, undefined).pipe(
                Effect.andThen(Effect.never),
                Effect.onInterrupt(() => Deferred.succeed(ended, undefined))
              )
            : inner.sample(requests)
      })
      const server = HttpRouter.serve(
        Server.routes.pipe(
          Layer.provide(Server.layer({ model: "served", maxOpen: 1 })),
          Layer.provide(Layer.succeed(Engine)(engine))
        ),
        { disableLogger: true, disableListenLog: true }
      ).pipe(Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })))
      const { address } = yield* Effect.provideContext(HttpServer.HttpServer, yield* Layer.build(server))
      const url = `http://127.0.0.1:${"port" in address ? address.port : 0}/v1/completions`
      const post = (max_tokens: number, signal?: AbortSignal) =>
        fetch(url, {
          method: "POST",
          body: JSON.stringify({ prompt: "Who", max_tokens }),
          ...(signal ? { signal } : {})
        })
      const leaving = new AbortController()
      const gone = post(9, leaving.signal).then(
        () => "answered",
        () => "gone"
      )
      yield* Deferred.await(began)
      leaving.abort()
      assert.strictEqual(yield* Effect.promise(() => gone), "gone")
      yield* Deferred.await(ended)
      assert.strictEqual((yield* Effect.promise(() => post(3))).status, 200)
    }).pipe(Effect.scoped, Effect.provide(tabular), Effect.timeout("20 seconds"))
  )
})

const decodeModels = Schema.decodeUnknownEffect(Wire.Models)
