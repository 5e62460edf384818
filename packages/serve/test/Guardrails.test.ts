import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Routes from "./support/Routes.ts"

const support = {
  seed: "Be brief.",
  variants: ["Explain everything."],
  settings: { sealAfterLeases: 1000, guardrails: ["usd=0.05", "latency.p95=2s"] }
}
const decodeLeases = Schema.decodeUnknownSync(
  Schema.Struct({
    leases: Schema.Array(Schema.Struct({ lease: Schema.String, instruction: Schema.Struct({ id: Schema.String }) }))
  })
)
const decodeShown = Schema.decodeUnknownSync(
  Schema.Struct({
    next: Schema.String,
    members: Schema.Array(Schema.Struct({ id: Schema.String, paused: Schema.optionalKey(Schema.String) }))
  })
)

describe("guardrails of a server", () => {
  it.effect("pause a member whose work costs too much, or takes too long, and say why", () =>
    Effect.gen(function* () {
      const ask = yield* Routes.make()
      for (const [name, ofVariant, why] of [
        [
          "costly",
          { usd: 0.2 },
          /^usd=0\.05 is broken by \d+ samples: their mean is 0\.200, certainly at least 0\.\d+, where 0\.0500 is allowed$/u
        ],
        [
          "slow",
          { usd: 0.01, metrics: { latency: 3 } },
          /^latency\.p95=2s is broken by \d+ samples: the share above it is 100 %/u
        ]
      ] as const) {
        assert.strictEqual((yield* ask("PUT", `/v1/populations/${name}`, support)).status, 201)
        const serve = Effect.fnUntraced(function* (from: number) {
          const requests = Array.from({ length: 100 }, (_, place) => ({ key: `k${from + place}` }))
          const { leases } = decodeLeases((yield* ask("POST", `/v1/populations/${name}/leases`, { requests })).body)
          const rewards = leases.map(({ instruction, lease }) => ({
            lease,
            value: 1,
            ...(instruction.id === "i1" ? ofVariant : { usd: 0.01, metrics: { latency: 0.4 } })
          }))
          yield* ask("POST", `/v1/populations/${name}/rewards`, { rewards })
          return leases.map(({ instruction }) => instruction.id)
        })
        assert.include(yield* serve(0), "i1")
        const { members, next } = decodeShown((yield* ask("GET", `/v1/populations/${name}`)).body)
        assert.match(members[1]?.paused ?? "", why)
        assert.notProperty(members[0], "paused")
        assert.include(next, "i1 is paused: ")
        assert.notInclude(yield* serve(100), "i1")
      }
      const metrics = yield* ask("GET", "/metrics")
      const text = metrics.body instanceof Uint8Array ? new TextDecoder().decode(metrics.body) : ""
      assert.include(text, 'inspo_broken_guardrails{population="slow"} 1')
    }).pipe(Effect.scoped)
  )

  it.effect("are bounds above 0 of metrics, and no changes against the control", () =>
    Effect.gen(function* () {
      const ask = yield* Routes.make()
      for (const guardrail of ["usd", "usd=0", "usd=+5%", "length=200", "latency.p00=2s"]) {
        const settings = { guardrails: [guardrail] }
        assert.strictEqual((yield* ask("PUT", "/v1/populations/one", { seed: "Be brief.", settings })).status, 400)
      }
    }).pipe(Effect.scoped)
  )
})
