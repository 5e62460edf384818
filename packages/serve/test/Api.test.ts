import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Api, Errors, Lease, Limits, Population } from "@inspo/serve"

const Operation = Schema.Struct({ security: Schema.Array(Schema.Record(Schema.String, Schema.Array(Schema.String))) })
const { paths } = Schema.decodeUnknownSync(
  Schema.Struct({ paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Operation)) })
)(OpenApi.fromApi(Api))

const keysOf = (path: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(paths[path] ?? {}).map(([method, { security }]) => [
      method,
      security.flatMap((one) => Object.keys(one)).join()
    ])
  )

const population = "/v1/populations/{name}"

describe("Api", () => {
  it("lets agents and trainers lease, reward and rewind, and admins alone do the rest", () => {
    for (const path of ["leases", "rewards", "rewind"])
      assert.deepStrictEqual(keysOf(`${population}/${path}`), { post: "leaseKey" })
    assert.deepStrictEqual(keysOf(`${population}/incumbent`), { get: "leaseKey" })
    assert.deepStrictEqual(keysOf("/v1/populations"), { get: "adminKey" })
    assert.deepStrictEqual(keysOf(population), {
      get: "adminKey",
      put: "adminKey",
      patch: "adminKey",
      delete: "adminKey"
    })
    for (const path of ["members", "evolve", "freeze", "resume"])
      assert.deepStrictEqual(keysOf(`${population}/${path}`), { post: "adminKey" })
    assert.deepStrictEqual(keysOf(`${population}/events`), { get: "adminKey" })
    assert.deepStrictEqual(keysOf(`${population}/transcripts/{lease}`), { delete: "adminKey" })
    for (const path of ["/healthz", "/readyz"]) assert.deepStrictEqual(keysOf(path), { get: "" })
    assert.deepStrictEqual(keysOf("/metrics"), { get: "leaseKey" })
  })

  const refusalOf = (schema: Schema.ConstraintDecoder<unknown>, value: unknown): string => {
    try {
      Schema.decodeUnknownSync(schema)(value)
      return ""
    } catch (error) {
      return String(error)
    }
  }

  it("accepts a reward with exactly one value, and names the field otherwise", () => {
    const lease = "l1"
    for (const reward of [{ value: 0 }, { failed: true }, { abandoned: true }, { value: -3, sample: 0, feedback: "" }])
      assert.strictEqual(refusalOf(Lease.Reward, { lease, ...reward }), "")
    for (const reward of [{}, { value: 1, failed: true }, { failed: true, abandoned: true }, { failed: false }])
      assert.notStrictEqual(refusalOf(Lease.Reward, { lease, ...reward }), "", JSON.stringify(reward))
    assert.include(refusalOf(Lease.Rewards, { rewards: [{ lease, value: "good" }] }), '["rewards"][0]["value"]')
    assert.include(refusalOf(Lease.Reward, { lease, value: 1, sample: -1 }), '["sample"]')
  })

  it("refuses texts, batches and names beyond its limits", () => {
    const long = "x".repeat(Limits.transcriptLength + 1)
    const reward = { lease: "l1", value: 1 }
    const request = { key: "k" }
    for (const [schema, value, field] of [
      [Lease.Reward, { ...reward, feedback: long }, "feedback"],
      [Lease.Reward, { ...reward, transcript: long }, "transcript"],
      [Lease.Reward, { ...reward, transcript: [{ role: "user", content: long }] }, "transcript"],
      [Lease.Rewards, { rewards: Array.from({ length: Limits.rewardsPerRequest + 1 }, () => reward) }, "rewards"],
      [
        Lease.LeaseRequests,
        { requests: Array.from({ length: Limits.leasesPerRequest + 1 }, () => request) },
        "requests"
      ],
      [Lease.LeaseRequests, { requests: [] }, "requests"],
      [Lease.LeaseRequests, { requests: [{ ...request, n: Limits.samplesPerLease + 1 }] }, "n"],
      [Lease.LeaseRequests, { requests: [{ key: "" }] }, "key"],
      [Population.NewPopulation, { seed: "" }, "seed"],
      [Population.NewPopulation, { seed: "a", settings: { rewardRange: [1, 0] } }, "rewardRange"],
      [Population.NewPopulation, { seed: "a", settings: { selection: { risk: 0 } } }, "risk"]
    ] as const)
      assert.include(refusalOf(schema, value), `["${field}"]`)
  })

  it("changes no setting that evidence rests upon", () => {
    const change = Schema.decodeUnknownSync(Population.SettingsChange)
    assert.deepStrictEqual<unknown>(change({ sampler: { seedShare: 0.1 } }), { sampler: { seedShare: 0.1 } })
    assert.deepStrictEqual<unknown>(change({ selection: { risk: 0.5 }, missingRewards: { value: 0 } }), {
      selection: {}
    })
  })

  it("lets a population go by nothing that a path could not hold", () => {
    const { name } = Population.PopulationSummary.fields
    for (const good of ["support", "a.b-c_1", "9"]) assert.strictEqual(refusalOf(name, good), "")
    for (const bad of ["", "a/b", "..", ".a", "ä", "a b", "a\n"]) assert.notStrictEqual(refusalOf(name, bad), "", bad)
  })
})

describe("what is refused", () => {
  const kinds = [
    Errors.InvalidRequest,
    Errors.NotFound,
    Errors.Conflict,
    Errors.TooLarge,
    Errors.TooManyRequestsNow,
    Errors.NotActiveNow
  ] as const
  const refusals: Readonly<Record<string, (typeof kinds)[number]["Type"]>> = {
    400: new Errors.InvalidRequest({
      field: "rewards[0].value",
      value: "NaN",
      expected: "a number",
      remedy: "mend it"
    }),
    404: new Errors.NotFound({ what: "population", name: "support", remedy: "make it" }),
    409: new Errors.Conflict({ differences: [{ field: "n", current: 4, given: 8 }], remedy: "ask for 4" }),
    413: new Errors.TooLarge({ field: "body", size: 2, limit: 1, remedy: "send less" }),
    429: new Errors.TooManyRequests({
      retryAfter: 7,
      limit: "open leases",
      remedy: "close some",
      detail: "there are 1000 open leases"
    }),
    503: new Errors.NotActive({ retryAfter: 1 })
  }
  const asked = HttpApiEndpoint.get("ask", "/:status", { params: { status: Schema.String }, error: kinds })
  const TestApi = HttpApi.make("test").add(HttpApiGroup.make("test").add(asked))
  const { handler } = HttpRouter.toWebHandler(
    HttpApiBuilder.layer(TestApi).pipe(
      Layer.provide(
        HttpApiBuilder.group(TestApi, "test", (handlers) =>
          Effect.succeed(
            handlers.handle("ask", ({ params }) =>
              Effect.fail(refusals[params.status] ?? new Errors.NotActive({ retryAfter: 0 }))
            )
          )
        )
      ),
      Layer.provideMerge(HttpServer.layerServices)
    ),
    { disableLogger: true }
  )

  for (const [status, refusal] of Object.entries(refusals))
    it(`is a problem of status ${status} that says how to mend it, and when to come again`, async () => {
      const answer = await handler(new Request(`http://localhost/${status}`))
      assert.strictEqual(answer.status, Number(status))
      assert.strictEqual(answer.headers.get("content-type"), "application/problem+json")
      assert.strictEqual(answer.headers.get("retry-after"), "retryAfter" in refusal ? String(refusal.retryAfter) : null)
      const body: unknown = await answer.json()
      assert.deepInclude(body, { ...refusal })
      assert.match(refusal.type, /^urn:inspo:/u)
    })
})
