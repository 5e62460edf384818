import { assert, describe, it } from "@effect/vitest"
import { JournalError } from "@inspo/journal"
import { Effect, Equal, Latch, Layer, Logger, Metric, Redacted, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { HttpClient, HttpClientRequest, HttpClientResponse, HttpRouter, HttpServer } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api, type Lease, Limits, type Member, type Population, PopulationStore } from "@inspo/serve"
import * as SqliteStore from "@inspo/serve/store/SqliteStore"
import * as Registry from "@inspo/serve/live/Populations"
import * as Server from "@inspo/serve/http/Server"

interface Told {
  readonly status: number
  readonly body: unknown
}

/** The typed client of a server that needs no key. */
type Client = HttpApiClient.ForApi<typeof Api>

/** Asks the routes themselves, without a socket and without types: for requests that are malformed, or have a key. */
type Ask = (method: string, path: string, body?: unknown, key?: string) => Effect.Effect<Told>

const decodeJson = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Json))

/** A server whose populations outlive it: `again` is the next process on the same store. */
const serversOn = Effect.fnUntraced(function* (store: Layer.Layer<PopulationStore>) {
  const context = yield* Layer.build(store)
  const start = Effect.fnUntraced(function* (keys: Server.Keys = {}, isEnding?: Effect.Effect<boolean>) {
    const clock = yield* Effect.context()
    const { dispose, handler } = HttpRouter.toWebHandler(
      Server.layer(keys, isEnding).pipe(
        Layer.provide(Registry.layer),
        Layer.provide(Layer.succeedContext(context)),
        Layer.provideMerge(HttpServer.layerServices),
        Layer.provideMerge(Layer.succeedContext(clock))
      ),
      { disableLogger: true, routerConfig: { maxParamLength: 2048 } }
    )
    const ask: Ask = (method, path, body, key) =>
      Effect.promise(async () => {
        const answer = await handler(
          new Request(`http://localhost${path}`, {
            method,
            ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
            headers: {
              "content-type": "application/json",
              ...(key === undefined ? {} : { authorization: `Bearer ${key}` })
            }
          })
        )
        const text = await answer.text()
        const isJson = answer.headers.get("content-type")?.includes("json") === true
        return { status: answer.status, body: isJson ? decodeJson(text) : text }
      })
    const client = yield* HttpApiClient.make(Api, { baseUrl: "http://localhost" }).pipe(
      Effect.provideService(
        HttpClient.HttpClient,
        HttpClient.make((request) =>
          Effect.map(
            Effect.flatMap(Effect.orDie(HttpClientRequest.toWeb(request)), (web) => Effect.promise(() => handler(web))),
            (response) => HttpClientResponse.fromWeb(request, response)
          )
        )
      )
    )
    return { ask, client, handler, stop: Effect.promise(dispose) }
  })
  return start
})

const servers = Effect.suspend(() => serversOn(SqliteStore.layerMemory))

/** A store that does something before each commit and before it reads events, such as fail. */
const beforeCommits = (
  first: () => Effect.Effect<void, JournalError>,
  reads: () => Effect.Effect<void, JournalError> = () => Effect.void
) =>
  Layer.effect(
    PopulationStore,
    PopulationStore.useSync((store) => ({
      ...store,
      make: (name) =>
        Effect.map(store.make(name), (journal) => ({
          ...journal,
          commit: (...given) => Effect.andThen(Effect.suspend(first), journal.commit(...given)),
          readFrom: (...given) => Effect.andThen(Effect.suspend(reads), journal.readFrom(...given))
        }))
    }))
  ).pipe(Layer.provide(SqliteStore.layerMemory))

/** A store that writes nothing more while a latch is closed. */
const heldBack = (latch: Latch.Latch) => beforeCommits(() => latch.await)

const one = "/v1/populations/support"
const support = { params: { name: "support" } }
const online: Population.NewPopulation = {
  seed: "Be brief.",
  variants: ["Be kind."],
  settings: { sealAfterLeases: 4, horizonSeconds: 60 }
}
const trainer: Population.NewPopulation = { seed: "Be brief.", variants: ["Be kind."], profile: "trainer" }

const create = ({ populations }: Client, payload: Population.NewPopulation = online) =>
  populations.create({ ...support, payload })

const leasedBy = ({ leases }: Client, payload: Lease.LeaseRequests) =>
  Effect.map(leases.lease({ ...support, payload }), ({ leases }) => leases)

const outcomesBy = ({ leases }: Client, rewards: ReadonlyArray<Lease.Reward>) =>
  Effect.map(leases.reward({ ...support, payload: { rewards } }), ({ results }) =>
    results.map(({ outcome }) => outcome)
  )

const fieldOf = (body: unknown, name: string): unknown =>
  typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined

const Key = Schema.Literals(["a", "b", "c", "d", "e"])
const Op = Schema.Union([
  Schema.TaggedStruct("Lease", { keys: Schema.UniqueArray(Key).check(Schema.isMinLength(1)) }),
  Schema.TaggedStruct("Reward", { key: Key, value: Schema.Literals([0, 0.5, 1, 7]), abandoned: Schema.Boolean }),
  Schema.TaggedStruct("Freeze", { how: Schema.Literals(["freeze", "resume"]) }),
  Schema.TaggedStruct("Add", { wording: Schema.Literals(["x", "y"]) }),
  Schema.TaggedStruct("Pin", { id: Schema.NullOr(Schema.Literals(["i0", "i1"])) }),
  Schema.TaggedStruct("Retire", { id: Schema.Literals(["i1", "i2"]) }),
  Schema.TaggedStruct("Change", { sealAfterLeases: Schema.Literals([2, 4]) }),
  Schema.TaggedStruct("Restart", {})
])
type Op = typeof Op.Type

const perform = (
  client: Client,
  op: Exclude<Op, { readonly _tag: "Restart" }>,
  leases: ReadonlyMap<string, string>
) => {
  const member = (payload: Member.MemberAction) => client.populations.member({ ...support, payload })
  switch (op._tag) {
    case "Lease":
      return Effect.map(leasedBy(client, { requests: op.keys.map((key) => ({ key })) }), (all) =>
        all.map(({ key, lease }) => [key, lease] as const)
      )
    case "Reward": {
      const lease = leases.get(op.key) ?? "support~0/0/none/none"
      return outcomesBy(client, [op.abandoned ? { lease, abandoned: true } : { lease, value: op.value }])
    }
    case "Freeze":
      return client.populations[op.how](support)
    case "Add":
      return member({ action: "add", wording: op.wording })
    case "Pin":
      return member({ action: "pin", id: op.id })
    case "Retire":
      return member({ action: "retire", id: op.id })
    case "Change":
      return client.populations.change({ ...support, payload: { sealAfterLeases: op.sealAfterLeases } })
  }
}

describe("Server", () => {
  it.effect.prop(
    "does each repeated request once, across restarts",
    [Schema.Array(Op).check(Schema.isMinLength(10), Schema.isMaxLength(30))],
    ([ops]) =>
      Effect.gen(function* () {
        const start = yield* servers
        let server = yield* start()
        yield* create(server.client)
        const leases = new Map<string, string>()
        const state = Effect.suspend(() => server.client.populations.get(support))
        for (const op of ops) {
          if (op._tag === "Restart") {
            const before = yield* state
            yield* server.stop
            server = yield* start()
            assert.deepStrictEqual(yield* state, before)
            continue
          }
          const request = Effect.result<unknown, unknown, never>(perform(server.client, op, leases))
          const first = yield* request
          const after = yield* state
          const again = yield* request
          // Of a reward it is known better when it is repeated: that it is.
          assert.strictEqual(again._tag, first._tag, JSON.stringify(op))
          if (op._tag !== "Reward") assert.deepStrictEqual(again, first, JSON.stringify(op))
          else if (Result.isSuccess(first) && Equal.equals(first.success, ["accepted"]))
            assert.deepStrictEqual(again, Result.succeed(["duplicate"]))
          assert.deepStrictEqual(yield* state, after, `${JSON.stringify(op)} was done twice`)
          if (op._tag === "Lease")
            for (const { key, lease } of yield* leasedBy(server.client, { requests: op.keys.map((key) => ({ key })) }))
              leases.set(key, lease)
        }
        assert.strictEqual((yield* create(server.client)).outcome, "same")
        yield* server.stop
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 15 } }
  )

  it.effect("refuses with a problem that names the field, what it is and what was expected", () =>
    Effect.gen(function* () {
      const { ask } = yield* (yield* servers)()
      yield* ask("PUT", one, online)
      const request = { key: "k" }
      for (const [method, path, body, field] of [
        ["POST", `${one}/leases`, { requests: [{ key: "" }] }, "requests[0].key"],
        ["POST", `${one}/leases`, { requests: [] }, "requests"],
        ["POST", `${one}/leases`, { requests: [request], cohort: "mine" }, "cohort"],
        ["POST", `${one}/leases`, { requests: [request], fullBatch: true }, "fullBatch"],
        ["POST", `${one}/leases`, { requests: [request, request] }, "key"],
        ["POST", `${one}/leases`, { requests: [{ ...request, color: 1 }] }, "requests[0].color"],
        ["POST", `${one}/rewards`, { rewards: [{ lease: "l", value: "good" }] }, "rewards[0].value"],
        ["POST", `${one}/rewards`, "{", "body"],
        ["POST", `${one}/members`, { action: "dance" }, "body"],
        ["POST", `${one}/members`, { action: "retire", id: "" }, "id"],
        ["POST", `${one}/members`, { action: "add", wording: { system: "b", tool: "c" } }, "wording"],
        ["PUT", "/v1/populations/new", { seed: "" }, "seed"],
        ["PUT", "/v1/populations/new", { seed: "a", variants: [{ system: "b" }] }, "variants[0]"],
        ["PUT", "/v1/populations/new", { seed: "a", settings: { selection: { risk: 2 } } }, "settings.selection.risk"],
        [
          "PUT",
          "/v1/populations/new",
          { seed: "a", settings: { missingRewards: { value: 3 } } },
          "settings.missingRewards.value"
        ],
        ["PUT", "/v1/populations/new", { seed: "a", settings: { horizonSeconds: null } }, "settings.horizonSeconds"],
        ["PATCH", one, { selection: { risk: 0.5 } }, "selection.risk"],
        ["GET", `${one}/events?limit=0`, undefined, "limit"]
      ] as const) {
        const told = yield* ask(method, path, body)
        assert.strictEqual(told.status, 400, JSON.stringify(told.body))
        assert.strictEqual(fieldOf(told.body, "field"), field, JSON.stringify(told.body))
        assert.strictEqual(fieldOf(told.body, "type"), "urn:inspo:invalid-request")
        for (const said of ["value", "expected", "remedy"]) assert.isString(fieldOf(told.body, said), said)
      }
      for (const [action, expected] of [
        [{ action: "ad" }, 'an object whose field action is "add", "pin", "approve", "reject" or "retire"'],
        [{ action: "add", wording: { tool: "c", system: "b" } }, "one text"]
      ] as const)
        assert.strictEqual(fieldOf((yield* ask("POST", `${one}/members`, action)).body, "expected"), expected)
      yield* ask("PUT", "/v1/populations/texts", { seed: { tool: "b", system: "a" } })
      const several = yield* ask("POST", "/v1/populations/texts/members", { action: "add", wording: "c" })
      assert.deepInclude(several.body, {
        field: "wording",
        value: "one text",
        expected: "system, tool",
        remedy: "Give all instructions of a population the texts of the seed"
      })
      const same = { action: "add", wording: { system: "c", tool: "d" } }
      assert.strictEqual((yield* ask("POST", "/v1/populations/texts/members", same)).status, 200)
      for (const [method, path, body] of [
        ["GET", "/v1/populations/none", undefined],
        ["POST", "/v1/populations/none/leases", { requests: [request] }],
        ["POST", `${one}/members`, { action: "retire", id: "i9" }]
      ] as const) {
        const told = yield* ask(method, path, body)
        assert.deepStrictEqual([told.status, fieldOf(told.body, "type")], [404, "urn:inspo:not-found"])
      }
    }).pipe(Effect.scoped)
  )

  it.effect("accepts valid rewards, and reports the reason for each of the others", () =>
    Effect.gen(function* () {
      const { client } = yield* (yield* servers)()
      yield* create(client)
      const another = { params: { name: "another" } }
      yield* client.populations.create({ ...another, payload: online })
      const [a = "", b = ""] = (yield* leasedBy(client, { requests: [{ key: "a" }, { key: "b", n: 2 }] })).map(
        ({ lease }) => lease
      )
      const { leases } = yield* client.leases.lease({ ...another, payload: { requests: [{ key: "a" }] } })
      const { results } = yield* client.leases.reward({
        ...support,
        payload: {
          rewards: [
            { lease: a, value: 1 },
            { lease: a, value: 0 },
            { lease: b, value: 1 },
            { lease: b, sample: 1, value: 7 },
            { lease: b, sample: 0, failed: true },
            { lease: leases[0]?.lease ?? "", value: 1 }
          ]
        }
      })
      assert.deepStrictEqual(
        results.map(({ outcome }) => outcome),
        ["accepted", "duplicate", "refused", "refused", "accepted", "unknown"]
      )
      assert.deepInclude(results[3]?.refusal, { field: "value", value: "7", expected: "a number from 0 to 1" })
    }).pipe(Effect.scoped)
  )

  it.effect("counts the first of two rewards, also beside one that is refused", () =>
    Effect.gen(function* () {
      const { client } = yield* (yield* servers)()
      yield* client.populations.create({ ...support, payload: { ...online, settings: { redact: ["secret"] } } })
      const [a = "", b = ""] = (yield* leasedBy(client, { requests: [{ key: "a" }, { key: "b" }] })).map(
        ({ lease }) => lease
      )
      const { results } = yield* client.leases.reward({
        ...support,
        payload: {
          rewards: [
            // Its text is masked before it is stored.
            { lease: a, value: 1, feedback: "a secret ".repeat(1000) },
            { lease: b, value: 7 },
            { lease: a, value: 0 },
            { lease: b, value: 1 }
          ]
        }
      })
      assert.deepStrictEqual(
        results.map(({ outcome }) => outcome),
        ["accepted", "refused", "duplicate", "accepted"]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("refuses times without a date, and rewards without a scale", () =>
    Effect.gen(function* () {
      const { ask } = yield* (yield* servers)()
      for (const [field, value] of [
        ["horizonSeconds", 1e13],
        ["sealAfterSeconds", 3.2e9],
        ["retentionDays", 36_526],
        ["stickyDays", 1e300],
        ["rewardRange", [-1e308, 1e308]]
      ] as const) {
        const refused = yield* ask("PUT", one, { seed: "Be brief.", settings: { [field]: value } })
        assert.strictEqual(refused.status, 400, field)
        assert.strictEqual(fieldOf(refused.body, "field"), `settings.${field}`)
        assert.strictEqual(fieldOf(refused.body, "value"), JSON.stringify(value))
      }
      assert.strictEqual((yield* ask("PUT", one, online)).status, 201)
      assert.strictEqual((yield* ask("PATCH", one, { horizonSeconds: 1e13 })).status, 400)
      assert.strictEqual((yield* ask("PATCH", one, { horizonSeconds: 3e9 })).status, 200)
    }).pipe(Effect.scoped)
  )

  it.effect("measures missing rewards by the closed cohorts", () =>
    Effect.gen(function* () {
      const { ask, client } = yield* (yield* servers)()
      yield* create(client, trainer)
      const missing = Effect.map(ask("GET", "/metrics"), ({ body }) =>
        Number(/^inspo_missing_share\{population="support"\} (.*)$/mu.exec(String(body))?.[1])
      )
      for (const [cohort, unreported, share] of [
        ["train/1", 1, 0.25],
        ["train/2", 4, 0.25]
      ] as const) {
        const requests = [0, 1, 2, 3].map((key) => ({ key: `${key}` }))
        const leased = yield* leasedBy(client, { cohort, requests })
        const rewards = leased.slice(unreported % 4).map(({ lease }) => ({ lease, value: 1 }))
        // The second one stays open: all of it is reported, and none of it is missing yet.
        yield* client.leases.reward({
          ...support,
          payload: { rewards, ...(cohort === "train/1" ? { close: { cohort } } : {}) }
        })
        assert.closeTo(yield* missing, share, 1e-9)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("shows its own faults in its log, once a minute, and in its metrics", () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (logLevel === "Error") logged.push(String(message))
    })
    const full = Effect.fail(
      new JournalError({ reason: "storage", file: "disk", sequence: null, detail: "it is full" })
    )
    return Effect.gen(function* () {
      let fault: "none" | "storage" | "reading" | "defect" = "none"
      const start = yield* serversOn(
        beforeCommits(
          () =>
            fault === "storage" ? full : fault === "defect" ? Effect.die(new Error("broken within")) : Effect.void,
          () => (fault === "reading" ? full : Effect.void)
        )
      )
      const { ask } = yield* start()
      yield* ask("PUT", one, online)
      const lease = (key: string) =>
        Effect.map(ask("POST", `${one}/leases`, { requests: [{ key }] }), ({ status }) => status)
      fault = "storage"
      assert.strictEqual(yield* lease("a"), 500)
      assert.strictEqual(yield* lease("b"), 500)
      assert.lengthOf(logged, 1)
      assert.include(logged[0] ?? "", "it is full")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* lease("c"), 500)
      assert.lengthOf(logged, 2)
      fault = "defect"
      assert.strictEqual(yield* lease("d"), 500)
      assert.include(logged.join("\n"), "a request met a defect: Error: broken within")
      fault = "none"
      assert.strictEqual(yield* lease("e"), 200)
      fault = "reading"
      assert.strictEqual((yield* ask("GET", `${one}/events`)).status, 500)
      const { body } = yield* ask("GET", "/metrics")
      assert.include(String(body), 'inspo_faults_total{kind="storage"} 4')
      assert.include(String(body), 'inspo_faults_total{kind="defect"} 1')
    }).pipe(
      Effect.scoped,
      Effect.provideService(Metric.MetricRegistry, new Map()),
      Effect.provide(Logger.layer([logger]))
    )
  })

  it.effect("reports which fields of a population differ, and changes those that may change", () =>
    Effect.gen(function* () {
      const { ask } = yield* (yield* servers)()
      assert.strictEqual((yield* ask("PUT", one, online)).status, 201)
      yield* ask("PATCH", one, { sealAfterLeases: 9 })
      assert.strictEqual((yield* ask("PUT", one, online)).status, 200)
      // As after an update of the server that chooses another horizon.
      const unnamed = { ...online, settings: { sealAfterLeases: 4 } }
      assert.strictEqual((yield* ask("PUT", one, unnamed)).status, 200)
      const told = yield* ask("PUT", one, {
        ...online,
        seed: "Else.",
        settings: { ...online.settings, selection: { risk: 0.1 } }
      })
      assert.deepStrictEqual([told.status, fieldOf(told.body, "type")], [409, "urn:inspo:conflict"])
      assert.deepStrictEqual(fieldOf(told.body, "differences"), [
        { field: "seed", current: "Be brief.", given: "Else." },
        { field: "settings.selection.risk", current: 0.05, given: 0.1 }
      ])
      assert.strictEqual((yield* ask("DELETE", one)).status, 204)
      assert.strictEqual((yield* ask("GET", one)).status, 404)
      assert.strictEqual((yield* ask("PUT", one, { seed: "Else." })).status, 201)
    }).pipe(Effect.scoped)
  )

  it.effect("closes a trainer's cohort at once, and returns its leases again, also those of removed instructions", () =>
    Effect.gen(function* () {
      const { client } = yield* (yield* servers)()
      yield* create(client, trainer)
      const refused = (payload: Lease.LeaseRequests) =>
        Effect.map(Effect.flip(leasedBy(client, payload)), ({ _tag }) => _tag)
      assert.strictEqual(yield* refused({ requests: [{ key: "a" }] }), "InvalidRequest")
      const request = {
        cohort: "train/1",
        requests: [
          { key: "a", n: 2 },
          { key: "b", n: 2 }
        ]
      }
      const leased = Effect.map(leasedBy(client, request), (all) => all.map(({ key, lease }) => [key, lease]))
      const first = yield* leased
      const close = client.leases.reward({ ...support, payload: { rewards: [], close: { cohort: "train/1" } } })
      assert.deepInclude((yield* close).cohort, { cohort: "train/1", state: "closed", leases: 2, reported: 0 })
      assert.deepInclude((yield* close).cohort, { state: "closed" })
      yield* client.populations.member({ ...support, payload: { action: "retire", id: "i1" } })
      assert.deepStrictEqual(yield* leased, first)
      assert.strictEqual(yield* refused({ ...request, requests: [{ key: "new" }] }), "Conflict")
      assert.strictEqual(yield* refused({ ...request, requests: [{ key: "a", n: 3 }] }), "Conflict")
      const rewind = client.leases.rewind({ ...support, payload: { to: "train/1", requestId: "r" } })
      assert.deepStrictEqual(yield* rewind, { branch: 1, rewound: true })
      assert.deepStrictEqual(yield* rewind, { branch: 1, rewound: false })
    }).pipe(Effect.scoped)
  )

  it.effect("refuses to close or rewind an online population", () =>
    Effect.gen(function* () {
      const { client } = yield* (yield* servers)()
      yield* create(client)
      const [leased] = yield* leasedBy(client, { requests: [{ key: "a" }] })
      const rewards = [{ lease: leased?.lease ?? "", value: 1 }]
      const close = { cohort: "auto/train/1" }
      const closing = yield* Effect.flip(client.leases.reward({ ...support, payload: { rewards, close } }))
      assert.strictEqual(closing._tag, "Conflict")
      assert.deepStrictEqual(yield* outcomesBy(client, rewards), ["accepted"])
      const rewind = { to: "auto/train/1", requestId: "r" }
      assert.strictEqual((yield* Effect.flip(client.leases.rewind({ ...support, payload: rewind })))._tag, "Conflict")
    }).pipe(Effect.scoped)
  )

  it.effect("seals and closes by time, without requests", () =>
    Effect.gen(function* () {
      const { client } = yield* (yield* servers)()
      yield* create(client, { ...online, settings: { sealAfterSeconds: 10, horizonSeconds: 5 } })
      yield* leasedBy(client, { requests: [{ key: "a" }] })
      const stateOf = Effect.map(client.populations.get(support), ({ leases }) => leases)
      assert.deepStrictEqual(yield* stateOf, { given: 1, open: 1, overdue: 0, lost: 0 })
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* stateOf, { given: 1, open: 1, overdue: 1, lost: 0 })
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* stateOf, { given: 1, open: 0, overdue: 0, lost: 1 })
    }).pipe(Effect.scoped)
  )

  it.effect("requires a key if there is one, and the admin's for more than leases", () =>
    Effect.gen(function* () {
      const keys = { admin: Redacted.make("root"), lease: Redacted.make("agent") }
      const { ask } = yield* (yield* servers)(keys)
      const statusOf = (path: string, key?: string) =>
        Effect.map(ask("GET", path, undefined, key), ({ status }) => status)
      yield* ask("PUT", one, online, "root")
      for (const path of [one, `${one}/incumbent`]) {
        assert.strictEqual(yield* statusOf(path), 401)
        assert.strictEqual(yield* statusOf(path, "guess"), 401)
        assert.strictEqual(yield* statusOf(path, "root"), 200)
      }
      assert.strictEqual(yield* statusOf(`${one}/incumbent`, "agent"), 200)
      assert.strictEqual(yield* statusOf(one, "agent"), 403)
      for (const path of ["/healthz", "/readyz"]) assert.strictEqual(yield* statusOf(path), 200)
      assert.strictEqual(yield* statusOf("/metrics"), 401)
      for (const key of ["agent", "root"]) assert.strictEqual(yield* statusOf("/metrics", key), 200)
    }).pipe(Effect.scoped)
  )

  it.effect("pages through what happened, and measures it", () =>
    Effect.gen(function* () {
      const { client } = yield* (yield* servers)()
      yield* create(client)
      for (const how of ["freeze", "resume", "freeze"] as const) yield* client.populations[how](support)
      const types: Array<string> = []
      for (let after = -1; ;) {
        const { events, last } = yield* client.populations.events({ ...support, query: { after, limit: 2 } })
        if (events.length === 0) break
        types.push(...events.map(({ type }) => type))
        after = last
      }
      assert.deepStrictEqual(types, ["Created", "Frozen", "Frozen", "Frozen"])
      const metrics = yield* client.server.metrics()
      assert.include(metrics, 'inspo_frozen{population="support"} 1')
      assert.include(metrics, 'inspo_degraded{population="support"} 0')
    }).pipe(Effect.scoped)
  )

  it.effect("sums the rewards of closed cohorts in a summary of what happened", () =>
    Effect.gen(function* () {
      const { client } = yield* (yield* servers)()
      yield* create(client, trainer)
      const leased = yield* leasedBy(client, { cohort: "train/1", requests: [{ key: "a" }, { key: "b", n: 2 }] })
      const rewards = leased.flatMap(({ key, lease }): ReadonlyArray<Lease.Reward> =>
        key === "a" ? [{ lease, value: 1 }] : [0, 1].map((sample) => ({ lease, sample, value: sample }))
      )
      yield* client.leases.reward({ ...support, payload: { rewards, close: { cohort: "train/1" } } })
      const closed = (view: "all" | "summary") =>
        Effect.map(client.populations.events({ ...support, query: { view } }), ({ events, last }) => ({
          last,
          data: events.find(({ type }) => type === "Closed")?.data
        }))
      const [summary, all] = [yield* closed("summary"), yield* closed("all")]
      assert.strictEqual(summary.last, all.last)
      assert.isArray(fieldOf(all.data, "units"))
      assert.isUndefined(fieldOf(summary.data, "units"))
      const tallies = Object.values(Object(fieldOf(summary.data, "tallies")))
      assert.strictEqual(
        tallies.reduce((sum: number, tally) => sum + Number(fieldOf(tally, "sum")), 0),
        1.5
      )
    }).pipe(Effect.scoped)
  )

  it.effect("measures a population that was removed no more", () =>
    Effect.gen(function* () {
      const { ask } = yield* (yield* servers)()
      for (const name of ["short-lived", "lasting"]) yield* ask("PUT", `/v1/populations/${name}`, online)
      yield* ask("POST", "/v1/populations/short-lived/leases", { requests: [{ key: "k" }] })
      const measured = Effect.map(ask("GET", "/metrics"), ({ body }) => String(body))
      assert.include(yield* measured, 'inspo_leases_total{population="short-lived"} 1')
      yield* ask("DELETE", "/v1/populations/short-lived")
      const left = yield* measured
      assert.notInclude(left, "short-lived")
      assert.include(left, 'inspo_members{population="lasting"} 2')
    }).pipe(Effect.scoped)
  )

  it.effect("is not ready once it ends", () =>
    Effect.gen(function* () {
      let ends = false
      const { ask } = yield* (yield* servers)(
        {},
        Effect.sync(() => ends)
      )
      assert.strictEqual((yield* ask("GET", "/readyz")).status, 200)
      ends = true
      const told = yield* ask("GET", "/readyz")
      assert.deepStrictEqual([told.status, fieldOf(told.body, "type")], [503, "urn:inspo:not-active"])
      assert.strictEqual((yield* ask("GET", "/healthz")).status, 200)
    }).pipe(Effect.scoped)
  )

  it.effect("refuses requests beyond its limit for a while; bodies that do not arrive take no place", () =>
    Effect.gen(function* () {
      const latch = yield* Latch.make(true)
      const { ask, handler } = yield* (yield* serversOn(heldBack(latch)))()
      yield* ask("PUT", one, online)
      const post = (body: string | ReadableStream) =>
        handler(
          new Request(`http://localhost${one}/leases`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body,
            duplex: "half"
          })
        )
      const pause = Effect.promise(() => new Promise((done) => setTimeout(done, 100)))
      const open: Array<ReadableStreamDefaultController> = []
      const stalled = Array.from({ length: Limits.requestsWaiting }, () =>
        post(new ReadableStream({ start: (controller) => void open.push(controller) }))
      )
      yield* pause
      assert.strictEqual((yield* ask("GET", one)).status, 200)
      yield* latch.close
      const waiting = Array.from({ length: Limits.requestsWaiting }, (_, key) =>
        post(JSON.stringify({ requests: [{ key: String(key) }] }))
      )
      yield* pause
      const refused = yield* Effect.promise(() => handler(new Request(`http://localhost${one}/incumbent`)))
      assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [429, "1"])
      const told = yield* Effect.promise(() => refused.json())
      assert.strictEqual(fieldOf(told, "type"), "urn:inspo:too-many-requests")
      yield* latch.open
      for (const body of open) body.close()
      yield* Effect.promise(() => Promise.all([...stalled, ...waiting]))
      assert.strictEqual((yield* ask("GET", one)).status, 200)
    }).pipe(Effect.scoped)
  )

  it("names a lease within what a reward may name", () => {
    const longest = `${"p".repeat(Limits.nameLength)}~0/0/${encodeURIComponent("€".repeat(Limits.nameLength))}/`
    assert.isBelow(longest.length * 2, Limits.leaseLength)
  })

  it.effect("refuses bodies of another form with a problem", () =>
    Effect.gen(function* () {
      const { ask, handler } = yield* (yield* servers)()
      yield* ask("PUT", one, online)
      const malformed = yield* ask("POST", `${one}/leases`, "{")
      assert.deepStrictEqual(
        [malformed.status, fieldOf(malformed.body, "detail")],
        [400, "body: expected a valid JSON body"]
      )
      const request = new Request(`http://localhost${one}/leases`, {
        method: "POST",
        headers: { "content-type": "text/plain" },
        body: "{}"
      })
      const refused = yield* Effect.promise(() => handler(request))
      assert.deepStrictEqual([refused.status, refused.headers.get("content-type")], [415, "application/problem+json"])
      assert.strictEqual(fieldOf(yield* Effect.promise(() => refused.json()), "field"), "content-type")
    }).pipe(Effect.scoped)
  )

  it.effect("refuses names with lone surrogates, by field", () =>
    Effect.gen(function* () {
      const { ask } = yield* (yield* servers)()
      yield* ask("PUT", one, trainer)
      const bad = "x\ud800"
      const asks: ReadonlyArray<readonly [route: string, body: unknown, field: string]> = [
        ["leases", { cohort: "a", requests: [{ key: bad }] }, "requests[0].key"],
        ["leases", { cohort: bad, requests: [{ key: "k" }] }, "cohort"],
        ["leases", { cohort: "a", requests: [{ key: "k", sticky: bad }] }, "requests[0].sticky"],
        ["leases", { cohort: "a", requests: [{ key: "k", stratum: bad }] }, "requests[0].stratum"],
        ["leases", { cohort: "a", requests: [{ key: "k", question: { id: bad } }] }, "requests[0].question.id"],
        ["leases", { cohort: "a", policyVersion: bad, requests: [{ key: "k" }] }, "policyVersion"],
        ["rewards", { rewards: [{ lease: bad, value: 1 }] }, "rewards[0].lease"],
        ["rewards", { rewards: [], close: { cohort: bad } }, "close.cohort"],
        ["rewind", { to: bad, requestId: "r" }, "to"],
        ["rewind", { to: "a", requestId: bad }, "requestId"]
      ]
      for (const [route, body, field] of asks) {
        const told = yield* ask("POST", `${one}/${route}`, body)
        assert.deepStrictEqual([told.status, fieldOf(told.body, "field")], [400, field])
        assert.include(String(fieldOf(told.body, "expected")), "well-formed")
      }
    }).pipe(Effect.scoped)
  )

  it.effect("refuses leases with a remedy once a population has the maximum of open samples", () =>
    Effect.gen(function* () {
      const { client } = yield* (yield* servers)()
      yield* create(client, trainer)
      const requests = (step: number) =>
        Array.from({ length: 1024 }, (_, at) => ({ key: `${step}/${at}`, n: Limits.samplesPerLease }))
      yield* leasedBy(client, { cohort: "a", requests: requests(1) })
      const second = leasedBy(client, { cohort: "b", requests: requests(2) })
      const refused = yield* Effect.flip(second)
      assert.strictEqual(refused._tag, "TooManyRequests")
      if (refused._tag === "TooManyRequests")
        assert.include(refused.limit, "2000000 samples in cohorts that are not closed")
      yield* client.leases.reward({ ...support, payload: { rewards: [], close: { cohort: "a" } } })
      yield* second
    }).pipe(Effect.scoped)
  )

  it.effect("accepts rewards only for ids that it returned, across restarts, and never returns its secret", () =>
    Effect.gen(function* () {
      const start = yield* servers
      const first = yield* start()
      yield* create(first.client)
      const leaseOf = ({ client }: { readonly client: Client }, key: string) =>
        Effect.map(leasedBy(client, { requests: [{ key }] }), ([leased]) => leased?.lease ?? "")
      const own = yield* leaseOf(first, "alice")
      const other = yield* leaseOf(first, "mallory")
      const forged = other.replace(/mallory$/u, "alice")
      assert.notStrictEqual(forged, own)
      const [prefix = "", , ...place] = own.split("/")
      for (const id of [forged, [prefix, ...place].join("/"), `${own}x`, own.toUpperCase(), `${prefix}/`, prefix]) {
        assert.deepStrictEqual(yield* outcomesBy(first.client, [{ lease: id, value: 0 }]), ["unknown"], id)
        assert.strictEqual((yield* first.ask("DELETE", `${one}/transcripts/${encodeURIComponent(id)}`)).status, 404)
      }
      yield* first.stop
      const second = yield* start()
      assert.strictEqual(yield* leaseOf(second, "alice"), own)
      const events = yield* second.client.populations.events({ ...support, query: {} })
      assert.notInclude(JSON.stringify(events), "secret")
      assert.deepStrictEqual(yield* outcomesBy(second.client, [{ lease: own, value: 1 }]), ["accepted"])
    }).pipe(Effect.scoped)
  )

  it.effect("holds the key of agents to its rate, and the admin's to none", () =>
    Effect.gen(function* () {
      const keys = { admin: Redacted.make("admin"), lease: Redacted.make("agents") }
      const { ask } = yield* (yield* servers)(keys)
      yield* ask("PUT", one, online, "admin")
      const statuses = (key: string) =>
        Effect.map(
          Effect.forEach(
            Array.from({ length: Limits.requestsPerSecond + 200 }),
            () => ask("GET", `${one}/incumbent`, undefined, key),
            { concurrency: 50 }
          ),
          (all) => Map.groupBy(all, ({ status }) => status)
        )
      const agents = yield* statuses("agents")
      assert.deepStrictEqual([agents.get(200)?.length, agents.get(429)?.length], [Limits.requestsPerSecond, 200])
      const later = yield* ask("GET", `${one}/incumbent`, undefined, "admin")
      assert.strictEqual(later.status, 200)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* ask("GET", `${one}/incumbent`, undefined, "agents")).status, 200)
    }).pipe(Effect.scoped)
  )

  it.effect("refuses JSON that is nested too deeply, wherever it is", () =>
    Effect.gen(function* () {
      const { ask } = yield* (yield* servers)()
      yield* ask("PUT", one, trainer)
      const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`
      for (const [route, body] of [
        ["leases", deep],
        ["leases", `{"cohort":"a","requests":${deep}}`],
        ["leases", `{"cohort":"a","requests":[{"key":${deep}}]}`],
        ["leases", `{"cohort":"a","requests":[{"key":"k","n":${'{"n":'.repeat(100_000)}1${"}".repeat(100_000)}}]}`],
        ["rewards", `{"rewards":[{"lease":"l","transcript":${deep}}]}`],
        ["members", deep]
      ] as const) {
        const told = yield* ask("POST", `${one}/${route}`, body)
        assert.strictEqual(told.status, 400, body.slice(0, 60))
        assert.isBelow(JSON.stringify(told.body).length, 2000)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("refuses equal instructions, and names both", () =>
    Effect.gen(function* () {
      const { ask } = yield* (yield* servers)()
      for (const [variants, field, expected] of [
        [["Be brief."], "variants[0]", "the seed"],
        [["Be kind.", "Be exact.", "Be kind."], "variants[2]", "variants[0]"]
      ] as const) {
        const told = yield* ask("PUT", one, { seed: "Be brief.", variants })
        assert.deepStrictEqual([told.status, fieldOf(told.body, "field")], [400, field])
        assert.include(String(fieldOf(told.body, "expected")), expected)
      }
    }).pipe(Effect.scoped)
  )
})
