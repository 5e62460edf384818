import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { Lease, Limits } from "@inspo/serve"
import * as Plain from "../src/http/internal/Plain.ts"

const lengths = [Limits.nameLength, Limits.nameLength + 1, Limits.leaseLength, Limits.leaseLength + 1]
const Text = Schema.Union([
  Schema.Literals(["", "\ud800", "é", ...lengths.map((length) => "l".repeat(length))]),
  Schema.String
])
const Others = Schema.Union([
  Schema.Number,
  Schema.Null,
  Schema.Boolean,
  Schema.Array(Schema.String),
  Schema.Struct({})
])
const Anything = Schema.Union([Text, Text, Others])
const Request = Schema.Union([
  Schema.Struct({ key: Text, sticky: Schema.optionalKey(Text), stratum: Schema.optionalKey(Text) }),
  Schema.Struct({
    key: Schema.optionalKey(Anything),
    sticky: Schema.optionalKey(Anything),
    n: Schema.optionalKey(Schema.Number)
  }),
  Others
])
const Reward = Schema.Union([
  Schema.Struct({ lease: Text, value: Schema.Number }),
  Schema.Struct({
    lease: Schema.optionalKey(Anything),
    value: Schema.optionalKey(Anything),
    failed: Schema.optionalKey(Others)
  }),
  Others
])
const Body = Schema.Union([
  Schema.Struct({ requests: Schema.Array(Request) }),
  Schema.Struct({ rewards: Schema.Array(Reward) }),
  Schema.Struct({ requests: Schema.Array(Request), rewards: Schema.Array(Reward), cohort: Schema.optionalKey(Text) }),
  Others
])

const leases = Schema.decodeUnknownResult(Lease.LeaseRequests, { onExcessProperty: "error" })
const rewards = Schema.decodeUnknownResult(Lease.Rewards, { onExcessProperty: "error" })

const holds = (value: unknown) => {
  const isLeases = Plain.isLeaseRequests(value)
  if (isLeases) assert.deepStrictEqual<unknown>(Result.getOrNull(leases(value)), value)
  const isRewards = Plain.isRewards(value)
  if (isRewards) assert.deepStrictEqual<unknown>(Result.getOrNull(rewards(value)), value)
  return isLeases || isRewards
}

describe("plain requests", () => {
  it("are those of keys, and of rewards that are numbers, as many as a request may have", () => {
    for (const count of [0, 1, 2, 1024, 1025]) {
      const requests = Array.from({ length: count }, (_, at) => ({ key: `k${at}`, sticky: "u", stratum: "s" }))
      assert.strictEqual(holds({ requests }), count > 0 && count <= Limits.leasesPerRequest, `${count} leases`)
      const rewards = Array.from({ length: count }, (_, at) => ({ lease: `l${at}`, value: 0.5 }))
      assert.strictEqual(holds({ rewards }), count <= Limits.rewardsPerRequest, `${count} rewards`)
    }
    for (const text of ["", "\ud800", "é", ...lengths.map((length) => "l".repeat(length))]) {
      const requests = [{ key: text }]
      assert.strictEqual(holds({ requests }), Result.isSuccess(leases({ requests })), `${text.length} characters`)
    }
    assert.isFalse(holds(JSON.parse('{"requests":[{"key":"a","__proto__":{}}]}')))
    assert.isFalse(holds(JSON.parse('{"rewards":[{"lease":"a","value":1e999}]}')))
  })

  it.prop("are valid, and read as they are", [Body], ([body]) => void holds(body), { arbitrary: { runs: 1000 } })
})
