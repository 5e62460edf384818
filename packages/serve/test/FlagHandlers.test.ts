import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import * as Routes from "./support/Routes.ts"

const flags = "/ofrep/v1/evaluate/flags"
const Evaluation = Schema.Struct({
  key: Schema.String,
  reason: Schema.Literals(["SPLIT", "STATIC"]),
  variant: Schema.String,
  value: Schema.Json,
  metadata: Schema.Struct({
    "inspo.lease": Schema.String,
    "inspo.cohort": Schema.String,
    "inspo.propensity": Schema.Finite
  })
})
const decodeOne = Schema.decodeUnknownSync(Evaluation)
const decodeAll = Schema.decodeUnknownSync(Schema.Struct({ flags: Schema.Array(Evaluation) }))

const decodeStrata = Schema.decodeUnknownSync(
  Schema.Struct({
    members: Schema.Array(
      Schema.Struct({
        strata: Schema.Record(Schema.String, Schema.Struct({ mean: Schema.NullOr(Schema.Finite) }))
      })
    )
  })
)

const asUser = (targetingKey: unknown) => ({ context: { targetingKey, plan: "free" } })
const support = { seed: "Be brief.", variants: ["Be kind."], settings: { sealAfterLeases: 2, horizonSeconds: 3600 } }

const started = Effect.gen(function* () {
  const ask = yield* Routes.make()
  assert.strictEqual((yield* ask("PUT", "/v1/populations/support", support)).status, 201)
  return ask
})

describe("OpenFeature's protocol", () => {
  it.effect("evaluates a population as a flag, and a user's lease once in a cohort", () =>
    Effect.gen(function* () {
      const ask = yield* started
      const first = decodeOne((yield* ask("POST", `${flags}/support`, asUser("ada"))).body)
      assert.deepStrictEqual([first.key, first.value], ["support", first.variant === "i0" ? "Be brief." : "Be kind."])
      assert.deepStrictEqual(decodeOne((yield* ask("POST", `${flags}/support`, asUser("ada"))).body), first)
      // The cohort is sealed by the second user; what the first one has stays.
      const other = decodeOne((yield* ask("POST", `${flags}/support`, asUser("bob"))).body)
      assert.notStrictEqual(other.metadata["inspo.lease"], first.metadata["inspo.lease"])
      yield* ask("POST", `${flags}/support`, asUser("cleo"))
      assert.deepStrictEqual(decodeOne((yield* ask("POST", `${flags}/support`, asUser("ada"))).body), first)
      const rewards = [
        { lease: first.metadata["inspo.lease"], value: 1 },
        { lease: other.metadata["inspo.lease"], value: 0 }
      ]
      const { body } = yield* ask("POST", "/v1/populations/support/rewards", { rewards })
      assert.deepStrictEqual<unknown>(body, { results: [{ outcome: "accepted" }, { outcome: "accepted" }] })
      const later = decodeOne((yield* ask("POST", `${flags}/support`, asUser("ada"))).body)
      assert.deepStrictEqual([later.variant, later.metadata["inspo.cohort"]], [first.variant, "auto/train/2"])
    }).pipe(Effect.scoped)
  )

  it.effect(
    "gives the seed after the switch, for one flag or all of them, and the former variant after the resumption",
    () =>
      Effect.gen(function* () {
        const ask = yield* Routes.make()
        yield* ask("PUT", "/v1/populations/support", { ...support, settings: { sealAfterLeases: 100 } })
        yield* ask("PUT", "/v1/populations/training", { seed: "Think.", profile: "trainer" })
        const variants = Effect.map(
          Effect.forEach(["ada", "bob", "cleo", "dan", "eve", "fay"], (user) =>
            ask("POST", `${flags}/support`, asUser(user))
          ),
          (answers) => answers.map(({ body }) => decodeOne(body))
        )
        const before = yield* variants
        assert.include(
          before.map(({ variant }) => variant),
          "i1"
        )
        assert.strictEqual((yield* ask("POST", "/v1/populations/support/seed")).status, 200)
        const during = yield* variants
        assert.deepStrictEqual(
          new Set(during.map(({ reason, variant }) => `${reason} ${variant}`)),
          new Set(["STATIC i0"])
        )
        assert.deepStrictEqual(
          (yield* variants).map(({ metadata }) => metadata),
          during.map(({ metadata }) => metadata)
        )
        assert.deepInclude((yield* ask("GET", "/v1/populations/support")).body, {
          state: "seed",
          next: "nothing: all leases get the seed"
        })
        assert.strictEqual((yield* ask("POST", "/v1/populations/training/seed")).status, 409)
        yield* ask("POST", "/v1/populations/support/resume")
        assert.deepStrictEqual(yield* variants, before)
        const switched = yield* ask("POST", "/v1/populations/seed")
        assert.strictEqual(Array.isArray(switched.body) ? switched.body.length : 0, 1)
        assert.deepStrictEqual(
          (yield* variants).map(({ variant }) => variant),
          before.map(() => "i0")
        )
      }).pipe(Effect.scoped)
  )

  it.effect("keeps the stratum of the context apart in the estimates", () =>
    Effect.gen(function* () {
      const ask = yield* started
      const users = [
        ["ada", "free"],
        ["bob", "paid"]
      ] as const
      const rewards = yield* Effect.forEach(users, ([targetingKey, stratum]) =>
        Effect.map(ask("POST", `${flags}/support`, { context: { targetingKey, stratum } }), ({ body }) => ({
          lease: decodeOne(body).metadata["inspo.lease"],
          value: stratum === "free" ? 0 : 1
        }))
      )
      yield* ask("POST", "/v1/populations/support/rewards", { rewards })
      const { members } = decodeStrata((yield* ask("GET", "/v1/populations/support")).body)
      const means = members.flatMap(({ strata }) => Object.entries(strata).map(([name, { mean }]) => [name, mean]))
      assert.sameDeepMembers(means, [
        ["free", 0],
        ["paid", 1]
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("gives named texts as an object, and all flags with a tag", () =>
    Effect.gen(function* () {
      const ask = yield* started
      yield* ask("PUT", "/v1/populations/parts", { seed: { system: "Be brief.", tone: "Kindly." } })
      yield* ask("PUT", "/v1/populations/training", { seed: "Think.", profile: "trainer" })
      const answered = yield* ask("POST", flags, asUser("ada"))
      const all = decodeAll(answered.body).flags
      assert.deepStrictEqual(
        all.map(({ key }) => key),
        ["parts", "support"]
      )
      assert.deepStrictEqual(all[0]?.value, { system: "Be brief.", tone: "Kindly." })
      const tag = answered.headers.get("etag") ?? ""
      assert.match(tag, /^"[^"]+"$/u)
      const again = yield* ask("POST", flags, asUser("ada"), { "if-none-match": `"old", W/${tag}` })
      assert.deepStrictEqual([again.status, again.headers.get("etag")], [304, tag])
      assert.strictEqual((yield* ask("POST", flags, asUser("bob"), { "if-none-match": tag })).status, 200)
    }).pipe(Effect.scoped)
  )

  it.effect("fails as the protocol says", () =>
    Effect.gen(function* () {
      const ask = yield* started
      yield* ask("PUT", "/v1/populations/training", { seed: "Think.", profile: "trainer" })
      for (const [key, body, status, errorCode] of [
        ["support", "{", 400, "PARSE_ERROR"],
        ["support", "[]", 400, "PARSE_ERROR"],
        ["support", "{}", 400, "TARGETING_KEY_MISSING"],
        ["support", asUser(""), 400, "TARGETING_KEY_MISSING"],
        ["support", asUser(7), 400, "INVALID_CONTEXT"],
        ["support", asUser("x".repeat(181)), 400, "INVALID_CONTEXT"],
        ["support", { context: "ada" }, 400, "INVALID_CONTEXT"],
        ["support", { context: { targetingKey: "ada", stratum: 1 } }, 400, "INVALID_CONTEXT"],
        ["training", asUser("ada"), 400, "GENERAL"],
        ["none", asUser("ada"), 404, "FLAG_NOT_FOUND"]
      ] as const) {
        const answered = yield* ask("POST", `${flags}/${key}`, body)
        assert.strictEqual(answered.status, status, errorCode)
        assert.deepInclude(answered.body, { key, errorCode })
      }
      const { body, status } = yield* ask("POST", flags, {})
      assert.strictEqual(status, 400)
      assert.deepInclude(body, { errorCode: "TARGETING_KEY_MISSING" })
    }).pipe(Effect.scoped)
  )

  it.effect("needs the key of agents, and says when a client may ask again", () =>
    Effect.gen(function* () {
      const ask = yield* Routes.make({ admin: Redacted.make("admin"), lease: Redacted.make("lease") })
      const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
      yield* ask("PUT", "/v1/populations/support", support, bearer("admin"))
      assert.strictEqual((yield* ask("POST", `${flags}/support`, asUser("ada"))).status, 401)
      assert.strictEqual((yield* ask("POST", `${flags}/support`, asUser("ada"), bearer("lease"))).status, 200)
      const tooLarge = { ...bearer("lease"), "content-length": String(2 ** 30) }
      const answered = yield* ask("POST", `${flags}/support`, asUser("ada"), tooLarge)
      assert.deepStrictEqual([answered.status, answered.headers.get("retry-after")], [429, "1"])
    }).pipe(Effect.scoped)
  )
})
