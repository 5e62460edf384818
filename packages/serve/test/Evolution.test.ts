import { assert, describe, it } from "@effect/vitest"
import { ModelProposer, Provider, openAiCompatible } from "@inspo/reflection/models"
import { Evolving } from "@inspo/serve"
import * as SqliteStore from "@inspo/serve/store/SqliteStore"
import * as Populations from "@inspo/serve/live/Populations"
import * as Server from "@inspo/serve/http/Server"
import { Effect, Layer, Schema } from "effect"
import { FetchHttpClient, HttpRouter, HttpServer } from "effect/http"
import * as LocalServer from "../../reflection/test/support/LocalServer.ts"

const completion = (text: string): LocalServer.Reply => ({
  body: JSON.stringify({
    choices: [{ message: { content: text }, finish_reason: "stop" }],
    usage: { prompt_tokens: 100, completion_tokens: 50 }
  })
})

/** A server whose proposer is a model behind the protocol of OpenAI, which answers as a script says. */
const served = Effect.fnUntraced(function* (replies: ReadonlyArray<LocalServer.Reply>) {
  const local = yield* LocalServer.make(() => replies)
  const model = yield* Provider.make(openAiCompatible, {
    model: "m",
    url: `${local.url}/v1`,
    apiKey: null,
    maxOutputTokens: 1000,
    temperature: null,
    timeout: "10 seconds",
    retries: 0
  }).pipe(Effect.provide(FetchHttpClient.layer))
  const proposer = ModelProposer.make(model, {
    kind: "reflection",
    price: { model: "m", input: 1000, output: 2000 },
    maxOutputTokens: 1000,
    maxEvidenceTokens: 4000
  })
  const app = Server.layer().pipe(
    Layer.provide(Populations.layer),
    Layer.provide(SqliteStore.layerMemory),
    Layer.provide(Layer.succeed(Evolving.CurrentProposer, { proposer, budgetUsd: 5 })),
    Layer.provide(HttpServer.layerServices)
  )
  const { handler } = yield* Effect.acquireRelease(
    Effect.sync(() => HttpRouter.toWebHandler(app, { disableLogger: true })),
    ({ dispose }) => Effect.promise(dispose)
  )
  const ask = Effect.fnUntraced(function* (method: string, path: string, body?: unknown) {
    const request = new Request(`http://127.0.0.1/v1/populations/support${path}`, {
      method,
      headers: { "content-type": "application/json", authorization: "Bearer none" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const response = yield* Effect.promise(() => handler(request))
    const text = yield* Effect.promise(() => response.text())
    assert.isBelow(response.status, 300, `${method} ${path}: ${text}`)
    return text
  })
  /** Asks until the answer says something. */
  const until = Effect.fnUntraced(function* (path: string, said: RegExp) {
    for (let turns = 0; turns < 200; turns++) {
      const text = yield* ask("GET", path)
      if (said.test(text)) return text
      yield* Effect.sleep("20 millis")
    }
    return assert.fail(`${path} never said ${said}: ${yield* ask("GET", path)}`)
  })
  return { ask, until, asked: local.asked }
})

const Leases = Schema.fromJsonString(Schema.Struct({ leases: Schema.Array(Schema.Struct({ lease: Schema.String })) }))

/** A lease whose reward comes with texts. */
const tell = Effect.fnUntraced(function* (
  ask: (method: string, path: string, body?: unknown) => Effect.Effect<string>,
  key: string,
  said: string
) {
  const { leases } = yield* Schema.decodeUnknownEffect(Leases)(
    yield* ask("POST", "/leases", { requests: [{ key, question: { id: key, text: `Task: ${said}` } }] })
  )
  const lease = leases[0]?.lease ?? ""
  yield* ask("POST", "/rewards", {
    rewards: [
      {
        lease,
        value: 0.2,
        feedback: `Feedback: ${said}`,
        transcript: [{ role: "user", content: `Wish: ${said}, says ada@example.org` }]
      }
    ]
  })
  return lease
})

describe("evolution over HTTP", () => {
  it.live("shows a proposer the details of users, redacted and not deleted, and leases nothing without a review", () =>
    Effect.gen(function* () {
      const { ask, asked, until } = yield* served([
        completion("They were cut off.\n<ins_1>Be kind, and brief.</ins_1>")
      ])
      yield* ask("PUT", "", {
        seed: "Be kind.",
        settings: { redact: [String.raw`[\w.]+@[\w.]+`], population: { size: 2 } }
      })
      yield* tell(ask, "k1", "shorter please")
      const deleted = yield* tell(ask, "k2", "forget this")
      yield* ask("DELETE", `/transcripts/${encodeURIComponent(deleted)}`)
      yield* ask("POST", "/evolve")
      const waiting = yield* until("", /approval of/u)
      assert.include(waiting, "Be kind, and brief.")
      assert.include(waiting, `"state":"learning"`)
      assert.include(waiting, `"spentUsd":0.2`)
      assert.include(waiting, `"budgetUsd":5`)
      const [call] = asked
      assert.lengthOf(asked, 1)
      assert.strictEqual(call?.path, "/v1/chat/completions")
      const body = call?.body ?? ""
      for (const text of ["Task: shorter please", "Feedback: shorter please", "Wish: shorter please, says █"])
        assert.include(body, text)
      assert.notMatch(body, /forget this|ada@/u)
      // Nobody gets it before an admin says so.
      for (const key of ["a", "b", "c", "d"])
        assert.notInclude(yield* ask("POST", "/leases", { requests: [{ key }] }), "brief")
      const id = /approval of ([^",;]+)/u.exec(waiting)?.[1]
      yield* ask("POST", "/members", { action: "approve", id })
      assert.include(yield* until("", /"id":"i1"/u), "Be kind, and brief.")
    }).pipe(Effect.scoped)
  )

  it.live("reports that the proposer fails, and continues leasing", () =>
    Effect.gen(function* () {
      const { ask, until } = yield* served([{ status: 401, body: `{"error":{"message":"bad key"}}` }])
      yield* ask("PUT", "", { seed: "Be kind." })
      yield* tell(ask, "k1", "shorter please")
      yield* ask("POST", "/evolve")
      const population = yield* until("", /"state":"degraded"/u)
      assert.match(population, /"degraded":\[\{[^}]*"since":"\d{4}-[^}]*\}\]/u)
      assert.match(population, /key/u)
      yield* tell(ask, "k2", "still there")
      const refused = yield* Effect.exit(ask("PUT", "", { seed: "Be kind.", settings: { redact: ["(?=a)"] } }))
      assert.strictEqual(refused._tag, "Failure")
    }).pipe(Effect.scoped)
  )
})
