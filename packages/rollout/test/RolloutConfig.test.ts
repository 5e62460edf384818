import { assert, describe, it } from "@effect/vitest"
import { defaultConfig, RolloutConfig } from "@inspo/rollout"
import { Schema } from "effect"

describe("RolloutConfig", () => {
  it.prop("survives JSON", [RolloutConfig], ([config]) => {
    const json = JSON.stringify(Schema.encodeSync(RolloutConfig)(config))
    const decoded = Schema.decodeUnknownSync(RolloutConfig)(JSON.parse(json))
    assert.strictEqual(JSON.stringify(Schema.encodeSync(RolloutConfig)(decoded)), json)
  })

  it("accepts its default", () => {
    assert.isTrue(Schema.is(RolloutConfig)(defaultConfig))
  })
})
