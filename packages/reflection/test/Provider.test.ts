import type { Chat } from "@inspo/domain"
import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import {
  Cause,
  Clock,
  type Duration,
  Effect,
  Exit,
  Fiber,
  Logger,
  Redacted,
  Ref,
  Result,
  Schema,
  Stream,
  Tracer
} from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { isPermanent, ProposerError, type ProposerErrorKind } from "../src/index.ts"
import * as ModelProposer from "../src/ModelProposer.ts"
import * as Provider from "../src/Provider.ts"
import { exchanges, getSum } from "./fixtures/exchanges.ts"
import * as LocalServer from "./support/LocalServer.ts"

const apiKey = "sk-test-0123456789"
const parent = "Search in <search> </search>, answer in <answer> </answer>."
const revised = `${parent} Search twice.`
const answer = `<ins_1>${revised}</ins_1>`

interface Asking {
  readonly url: string
  readonly key?: string
  readonly retries?: number
  readonly timeout?: Duration.Input
}

const optionsOf = ({ key = apiKey, retries = 3, timeout = "1 hour", url }: Asking): Provider.Options => ({
  url,
  retries,
  timeout,
  model: "m",
  apiKey: Redacted.make(key),
  maxOutputTokens: 2,
  temperature: 0.5
})

const modelAt = (provider: Provider.Provider, asking: Asking) =>
  Provider.make(provider, optionsOf(asking)).pipe(Effect.provide(FetchHttpClient.layer))

const request = { parent: { text: parent }, records: [], history: [], count: 1, seed: 1, stream: ["proposal", 1, 1] }

const proposeAt = Effect.fnUntraced(function* (provider: Provider.Provider, asking: Asking) {
  const model = yield* modelAt(provider, asking).pipe(
    Effect.mapError((error) => new ProposerError({ proposer: "test", reason: error.message }))
  )
  const price = { model: "m", input: 1_000_000, output: 2_000_000 }
  const proposer = ModelProposer.make(model, {
    kind: "paraphrase",
    price,
    maxOutputTokens: 2,
    maxEvidenceTokens: 9
  })
  return yield* proposer.propose(request)
})

/** What nothing but a person mends. */
const permanent: ReadonlySet<ProposerErrorKind> = new Set(["unauthorized", "not-found", "quota-exhausted"])

/** Lets the clock run, a second at a time, while the servers answer in their own time. */
const withClock = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const running = yield* Effect.forkChild(effect)
  while (running.pollUnsafe() === undefined) {
    yield* TestClock.withLive(Effect.sleep("2 millis"))
    yield* TestClock.adjust("1 second")
  }
  return yield* Fiber.join(running)
})

describe.each(exchanges)("$provider.name", (exchange) => {
  const { provider } = exchange

  it.effect("is sent the conversation and the key, and answers with text and counts", () =>
    Effect.gen(function* () {
      const server = yield* LocalServer.make(() => [{ body: exchange.success("Hello there") }])
      const model = yield* modelAt(provider, { url: `${server.url}/` })
      const response = yield* model.generateText({
        prompt: [
          { role: "system", content: "S" },
          { role: "user", content: "U" },
          { role: "assistant", content: "A" },
          { role: "user", content: [{ type: "text", text: "V" }] }
        ]
      })
      assert.strictEqual(response.text, "Hello there")
      assert.strictEqual(response.finishReason, "stop")
      assert.strictEqual(response.usage.inputTokens.total, exchange.usage.input)
      assert.strictEqual(response.usage.outputTokens.total, exchange.usage.output)
      assert.strictEqual(response.usage.outputTokens.reasoning, exchange.usage.thoughts)
      const [asked] = server.asked
      assert.strictEqual(asked?.method, "POST")
      assert.strictEqual(asked?.path, exchange.path)
      assert.strictEqual(asked?.headers[exchange.keyHeader], exchange.sent(apiKey))
      assert.deepStrictEqual(JSON.parse(asked?.body ?? ""), exchange.request)
      const streamed = yield* Stream.runCollect(model.streamText({ prompt: "U" }))
      const deltas = streamed.flatMap((part) => (part.type === "text-delta" ? [part.delta] : []))
      assert.strictEqual(deltas.join(""), "Hello there")
    })
  )

  it.effect("is sent tools, calls and results, and answers with calls", () =>
    Effect.gen(function* () {
      const { calling, conversation, signature } = exchange
      const calls = [
        { id: "c1", name: "get-sum", args: { a: 2, b: 3 } },
        { id: "c2", name: "echo" }
      ]
      const server = yield* LocalServer.make(() => [
        { body: calling("Let me see.", calls) },
        { body: calling("", calls) },
        { body: exchange.cut("Hel") }
      ])
      const chat = yield* Provider.chat(provider, optionsOf({ url: server.url })).pipe(
        Effect.provide(FetchHttpClient.layer)
      )
      const sum = {
        id: "c1",
        name: "get-sum",
        input: { a: 2, b: 3 },
        ...(signature === undefined ? {} : { signature })
      }
      const cut = { id: "c2", name: "get-sum", input: '{"a": 2' }
      const messages: ReadonlyArray<Chat.ChatMessage> = [
        { role: "user", text: "U" },
        { role: "assistant", text: "", calls: [sum, cut] },
        {
          role: "tool",
          results: [
            { call: sum, text: "5" },
            { call: cut, text: "The arguments must be a JSON object." }
          ]
        }
      ]
      const written = yield* chat({ messages, tools: [getSum] })
      assert.strictEqual(written.text, "Let me see.")
      assert.deepStrictEqual(written.calls, [sum, { id: "c2", name: "echo", input: {} }])
      assert.strictEqual(written.usage.inputTokens.total, exchange.usage.input)
      assert.deepInclude(JSON.parse(server.asked[0]?.body ?? ""), conversation)
      assert.strictEqual((yield* chat({ messages, tools: [getSum] })).text, "")
      assert.strictEqual((yield* chat({ messages, tools: [] })).finishReason, "length")
    })
  )

  it.effect("keeps thoughts apart from the text, and says when an answer was cut or refused", () =>
    Effect.gen(function* () {
      const server = yield* LocalServer.make(() => [
        { body: exchange.thoughtful("Hello") },
        { body: exchange.cut("Hel") },
        { body: exchange.refusal },
        { body: exchange.empty }
      ])
      const model = yield* modelAt(provider, { url: server.url })
      const next = Effect.map(model.generateText({ prompt: "U" }), (response) => [
        response.reasoningText,
        response.text,
        response.finishReason
      ])
      assert.deepStrictEqual(yield* next, ["T", "Hello", "stop"])
      assert.deepStrictEqual(yield* next, [undefined, "Hel", "length"])
      assert.deepStrictEqual(yield* next, [undefined, exchange.refusalText, "content-filter"])
      assert.deepStrictEqual(yield* next, [undefined, "", "stop"])
    })
  )

  it.effect("is priced by what it counted", () =>
    Effect.gen(function* () {
      const server = yield* LocalServer.make(() => [{ body: exchange.success(answer) }])
      const { candidates, spent } = yield* proposeAt(provider, { url: server.url })
      assert.deepStrictEqual(candidates, [{ text: revised, rationale: "" }])
      const { input, output } = exchange.usage
      assert.deepStrictEqual(spent, { calls: 1, tokens: input + output, usd: input + 2 * output })
    })
  )

  it.effect("is asked again after failures that may pass, not before the server wants it", () =>
    Effect.gen(function* () {
      const server = yield* LocalServer.make(() => [
        { status: 429, headers: { "retry-after": "20" }, body: exchange.limited },
        { status: 500, body: exchange.broken },
        { body: exchange.success(answer).slice(0, 30), breaks: "within the body" },
        { body: exchange.success(answer) }
      ])
      const times = yield* Ref.make<ReadonlyArray<number>>([])
      const model = yield* modelAt(provider, { url: server.url })
      const note = Effect.flatMap(Clock.currentTimeMillis, (now) => Ref.update(times, (all) => [...all, now]))
      const response = yield* withClock(
        Effect.provideService(model.generateText({ prompt: "U" }), Provider.OnRequest, note)
      )
      assert.strictEqual(response.text, answer)
      assert.lengthOf(server.asked, 4)
      const [first = 0, second = 0, third = 0, fourth = 0] = yield* Ref.get(times)
      assert.isAtLeast(second - first, 20_000)
      assert.isAtLeast(third - second, 500)
      assert.isBelow(third - second, 5_000)
      assert.isAtLeast(fourth - third, 1_000)
    })
  )

  const outcomes: ReadonlyArray<readonly [string, LocalServer.Reply, ProposerErrorKind, number, RegExp]> = [
    ["a wrong key", exchange.unauthorized, "unauthorized", 1, /does not accept the key \(status 40[01]: .*key/iu],
    ["a limit that stays", { status: 429, body: exchange.limited }, "rate-limited", 4, /status 429: /u],
    [
      "a pause of an hour",
      { status: 429, headers: { "retry-after": "3600" }, body: exchange.limited },
      "rate-limited",
      1,
      /raise the limit/u
    ],
    [
      "a quota that is used up",
      { status: 429, body: '{"error":{"message":"check your billing","code":"insufficient_quota"}}' },
      "quota-exhausted",
      1,
      /quota is used up/u
    ],
    ["a server that fails", { status: 500, body: exchange.broken }, "server-error", 4, /failed \(status 500: /u],
    ["an overloaded server", { status: 529, body: exchange.broken }, "server-error", 4, /failed \(status 529: /u],
    ["an unknown model", { status: 404, body: exchange.unknownModel }, "not-found", 1, /no such model.*check model/u],
    [
      "an unknown model, said with status 400",
      { status: 400, body: '{"error":{"message":"m is not a valid model ID"}}' },
      "not-found",
      1,
      /not a valid model/u
    ],
    [
      "a prompt that is too long",
      { status: 400, body: '{"error":{"message":"maximum context length is 8"}}' },
      "rejected",
      1,
      /context length/u
    ],
    ["a page instead of JSON", { body: "<html>Welcome</html>" }, "unreadable", 1, /<html>Welcome/u],
    ["JSON of another kind", { body: '{"hello":"world"}' }, "unreadable", 1, /something else than its protocol/u],
    ["half of a body as a whole", { body: exchange.success(answer).slice(0, 40) }, "unreadable", 1, /its protocol/u],
    [
      "an error as a success",
      { body: '{"error":{"message":"upstream is down"}}' },
      "server-error",
      4,
      /within an answer of status 200: upstream is down/u
    ],
    ["an overloaded server, as a success", { body: exchange.broken }, "server-error", 4, /status 200: /u],
    ["a limit that stays, as a success", { body: exchange.limited }, "rate-limited", 4, /status 200: /u],
    ["an unknown model, as a success", { body: exchange.unknownModel }, "not-found", 1, /status 200: /u],
    ["a wrong key, as a success", { body: exchange.unauthorized.body }, "unauthorized", 1, /does not accept the key/u],
    ["a body that breaks off", { body: '{"a', breaks: "within the body" }, "unreachable", 4, /did not answer/u],
    ["a connection that breaks", { breaks: "at once" }, "unreachable", 4, /did not answer/u],
    ["no answer in time", { silent: true }, "unreachable", 2, /no answer within 4s; |no answer within 4s\)/u],
    ["a refusal", { body: exchange.refusal }, "refused", 1, /refused to write/u],
    ["no text", { body: exchange.empty }, "empty", 2, /no text, twice/u],
    ["no candidate", { body: exchange.success("Sorry, no.") }, "no-candidates", 2, /"Sorry, no\."/u],
    ["a cut answer", { body: exchange.cut("First I thi") }, "cut", 2, /maxOutputTokens/u]
  ]

  it.effect.each(outcomes)("tells %s apart", ([, reply, kind, requests, text]) =>
    Effect.gen(function* () {
      const server = yield* LocalServer.make(() => [reply])
      const retryBudget = reply.silent === true ? ({ timeout: "4 seconds", retries: 1 } as const) : {}
      const error = yield* withClock(Effect.flip(proposeAt(provider, { url: server.url, ...retryBudget })))
      assert.instanceOf(error, ProposerError)
      assert.strictEqual(error.kind, kind)
      assert.match(error.message, text)
      assert.notMatch(error.message, /proposer\.|judge\.|--/u, "a library knows no settings")
      assert.strictEqual(isPermanent(error.failure.kind), permanent.has(kind))
      assert.lengthOf(server.asked, requests)
      assert.strictEqual(error.spent?.calls, requests)
    })
  )

  it.effect("does not follow a redirect with its key, and says where it leads", () =>
    Effect.gen(function* () {
      const other = yield* LocalServer.make(() => [{ body: exchange.success(answer) }])
      const server = yield* LocalServer.make(() => [
        { status: 307, headers: { location: `${other.url}/x?key=${apiKey}` } }
      ])
      const error = yield* Effect.flip(proposeAt(provider, { url: server.url }))
      assert.lengthOf(other.asked, 0)
      assert.lengthOf(server.asked, 1)
      assert.include(error.message, `a redirect to ${other.url}/x, which is not followed`)
      assert.notInclude(error.message, apiKey)
    })
  )

  it.effect("names the address it could not reach", () =>
    Effect.gen(function* () {
      const { url } = yield* Effect.scoped(LocalServer.make(() => []))
      const error = yield* Effect.flip(
        proposeAt(provider, { url: `${url.replace("//", "//me:secret@")}/base`, retries: 0 })
      )
      assert.include(error.message, `${url}/base did not answer`)
      assert.notInclude(error.message, "secret")
      assert.strictEqual(error.kind, "unreachable")
    })
  )

  it.effect("is probed without asking for a token", () =>
    Effect.gen(function* () {
      const server = yield* LocalServer.make(({ headers }) => [
        headers[exchange.keyHeader] === exchange.sent(apiKey) ? { body: "{}" } : exchange.unauthorized
      ])
      const probe = (key: string) =>
        Provider.probe(provider, { url: server.url, apiKey: Redacted.make(key), timeout: "1 hour" }).pipe(
          Effect.provide(FetchHttpClient.layer),
          Effect.exit
        )
      assert.isTrue(Exit.isSuccess(yield* probe(apiKey)))
      assert.isTrue(Exit.isFailure(yield* probe("another-key")))
      assert.isTrue(server.asked.every(({ method }) => method === "GET"))
    })
  )

  const find = ({ url }: LocalServer.LocalServer) =>
    Provider.find(provider, { url, apiKey: Redacted.make(apiKey), model: "m", timeout: "4 seconds" }).pipe(
      Effect.provide(FetchHttpClient.layer)
    )
  /** A server whose models are looked up with one answer, and asked with another. */
  const serving = (looked: LocalServer.Reply, answered: LocalServer.Reply) =>
    LocalServer.make(({ method }) => [method === "GET" ? looked : answered])
  const known = { body: JSON.stringify({ data: [{ id: "m" }] }) }
  const hello = { body: exchange.success("Hello") }
  const absent = { status: 404, body: exchange.unknownModel }

  it.effect("finds a model without a token where it is listed", () =>
    Effect.gen(function* () {
      const server = yield* serving(known, { status: 500 })
      assert.strictEqual(yield* find(server), "listed")
      assert.deepStrictEqual(
        server.asked.map(({ method }) => method),
        ["GET"]
      )
    })
  )

  it.effect("asks a model that is not listed for one token", () =>
    Effect.gen(function* () {
      for (const looked of [absent, { status: 403, body: '{"error":{"message":"no scope"}}' }]) {
        const server = yield* serving(looked, hello)
        assert.strictEqual(yield* find(server), "answered")
        assert.lengthOf(server.asked, 2)
        assert.match(server.asked[1]?.body ?? "", /"max(_completion)?_?[tT]okens":1[,}]|"maxOutputTokens":1[,}]/u)
      }
    })
  )

  const lost: ReadonlyArray<readonly [string, LocalServer.Reply, LocalServer.Reply, ProposerErrorKind]> = [
    ["a key that is refused", exchange.unauthorized, hello, "unauthorized"],
    ["a model that is not there", absent, absent, "not-found"],
    ["an address where nothing is", { status: 404, body: "<html>no page</html>" }, { status: 404 }, "not-found"],
    ["a page instead of a server", { body: "<html>Welcome</html>" }, hello, "unreadable"],
    ["a page instead of an answer", absent, { body: "<html>Welcome</html>" }, "unreadable"],
    ["a server that fails", { status: 500 }, hello, "server-error"],
    ["a connection that breaks", { breaks: "at once" }, hello, "unreachable"],
    ["a server that is silent", { silent: true }, hello, "unreachable"]
  ]

  it.effect.each(lost)("is not found behind %s", ([, looked, answered, kind]) =>
    Effect.gen(function* () {
      const server = yield* serving(looked, answered)
      const error = yield* withClock(Effect.flip(find(server)))
      assert.strictEqual(Provider.kindOf(error), kind)
    })
  )

  const Key = Schema.String.check(Schema.isPattern(/^[\x21-\x7e]{8,40}$/u))

  it.effect.prop(
    "never shows its key when it fails, even where the server repeats it",
    [Key, Schema.Literals([200, 400, 401, 429, 500]), Schema.Literals(["plain", "late", "as an error", "as JSON"])],
    ([random, status, where]) =>
      Effect.gen(function* () {
        const key = `k"\\${random}`
        const padding = where === "late" ? "x".repeat(190) : ""
        const said = `${padding}${key} is wrong`
        const bodies = {
          "as an error": JSON.stringify({ error: { message: said } }),
          "as JSON": JSON.stringify({ said })
        }
        const body = where === "as an error" || where === "as JSON" ? bodies[where] : said
        const server = yield* LocalServer.make(() => [{ status, body }])
        const seen: Array<string> = []
        const spans: Array<Tracer.Span> = []
        const tracer = Tracer.make({
          span: (options) => {
            const span = new Tracer.NativeSpan(options)
            spans.push(span)
            return span
          }
        })
        const exit = yield* proposeAt(provider, { url: server.url, key, retries: 0 }).pipe(
          Effect.tapCause((cause) => Effect.logError("failed", cause)),
          Effect.provide(Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void seen.push(line))])),
          Effect.provideService(Tracer.Tracer, tracer),
          Effect.exit
        )
        assert.isTrue(Exit.isFailure(exit))
        const failure = Exit.isFailure(exit) ? exit.cause : Cause.empty
        const attributes = spans.map((span) => [span.name, [...span.attributes], span.status, span.links])
        seen.push(Cause.pretty(failure), JSON.stringify(failure), inspect(failure, { depth: 20 }))
        seen.push(inspect(attributes, { depth: 20 }), JSON.stringify(Cause.squash(failure)))
        const everything = seen.join("\n")
        assert.isAbove(spans.length, 0)
        for (const shown of [key, JSON.stringify(key).slice(1, -1), key.slice(0, 7)])
          assert.isFalse(
            everything.includes(shown),
            `${key} in ${everything.slice(Math.max(0, everything.indexOf(shown) - 80)).slice(0, 200)}`
          )
      }),
    { arbitrary: { runs: 20 } }
  )
})

describe("make", () => {
  it.effect("refuses addresses and keys that cannot be used, and shows neither", () =>
    Effect.gen(function* () {
      const [{ provider } = { provider: null }] = exchanges
      if (provider === null) return assert.fail("no provider")
      for (const [asking, text] of [
        [{ url: "http//me:hunter22@host" }, /address is not a URL/u],
        [{ url: "ftp://hunter22" }, /address is not a URL/u],
        [{ url: "http://127.0.0.1", key: "hunter22\nhunter22" }, /key/u],
        [{ url: "http://127.0.0.1", key: " \n" }, /key/u]
      ] as const) {
        const error = yield* Effect.flip(modelAt(provider, asking))
        assert.match(`${error.message} ${JSON.stringify(error)}`, text)
        assert.notInclude(`${error.message} ${JSON.stringify(error)} ${inspect(error)}`, "hunter22")
      }
    })
  )
})

describe.each(exchanges.slice(0, 2))("chat completions of $provider.name", ({ path, provider, success }) => {
  const choice = (part: object) => ({ body: JSON.stringify({ choices: [{ message: { content: "" }, ...part }] }) })
  const asking = Effect.fnUntraced(function* (replies: ReadonlyArray<LocalServer.Reply>) {
    const server = yield* LocalServer.make(() => replies)
    const chat = yield* Provider.chat(provider, optionsOf({ url: server.url })).pipe(
      Effect.provide(FetchHttpClient.layer)
    )
    const written = yield* withClock(Effect.result(chat({ messages: [{ role: "user", text: "U" }], tools: [getSum] })))
    return { written, requests: server.asked.filter((asked) => asked.path === path).length }
  })

  it.effect("are asked again where the model behind a gateway failed", () =>
    Effect.gen(function* () {
      const { requests, written } = yield* asking([
        choice({ finish_reason: "error", error: { code: 502, message: "upstream lost" } }),
        choice({ finish_reason: "error" }),
        { body: success("Hello") }
      ])
      assert.strictEqual(requests, 3)
      assert.strictEqual(Result.getOrThrow(written).text, "Hello")
    })
  )

  it.effect("fail with the reason of the model behind a gateway where another request would not help", () =>
    Effect.gen(function* () {
      const failing = choice({ finish_reason: "error", error: { code: 400, message: "context too long" } })
      const { requests, written } = yield* asking([failing])
      assert.strictEqual(requests, 1)
      assert.include(Provider.explain(Result.getOrThrow(Result.flip(written))), "status 200: context too long")
    })
  )

  it.effect.prop(
    "mean the same with the arguments of a call as an object and as its JSON",
    { input: Schema.JsonObject },
    Effect.fnUntraced(function* ({ input }) {
      for (const given of [input, JSON.stringify(input)]) {
        const called = { id: "c", type: "function", function: { name: "get-sum", arguments: given } }
        const body = JSON.stringify({
          choices: [{ message: { content: null, tool_calls: [called] }, finish_reason: "tool_calls" }]
        })
        const parts = Result.getOrThrow(provider.read(body))
        assert.deepStrictEqual(
          parts.flatMap((part) => (part.type === "call" ? [part.call.input] : [])),
          [JSON.parse(JSON.stringify(input))]
        )
      }
    })
  )

  it("name the end of an answer as several servers do", () => {
    for (const [reason, expected] of [
      ["length", "length"],
      ["max_tokens", "length"],
      ["model_length", "length"],
      ["content_filter", "content-filter"],
      ["refusal", "content-filter"]
    ]) {
      const parts = Result.getOrThrow(provider.read(choice({ finish_reason: reason }).body))
      assert.deepStrictEqual(
        parts.flatMap((part) => (part.type === "finish" ? [part.reason] : [])),
        [expected]
      )
    }
  })
})
