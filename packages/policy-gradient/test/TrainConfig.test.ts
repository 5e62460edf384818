import { assert, describe, it } from "@effect/vitest"
import { TrainConfig } from "@inspo/policy-gradient"
import { Schema } from "effect"

describe("TrainConfig", () => {
  it.prop("survives JSON", [TrainConfig], ([config]) => {
    const json = JSON.stringify(Schema.encodeSync(TrainConfig)(config))
    // JSON has no negative zero.
    const decoded = Schema.decodeUnknownSync(TrainConfig)(JSON.parse(json))
    assert.strictEqual(JSON.stringify(Schema.encodeSync(TrainConfig)(decoded)), json)
  })
})
