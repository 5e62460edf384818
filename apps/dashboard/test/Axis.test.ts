import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ends } from "../src/Axis.ts"

const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
const Bounds = Schema.Struct({ fromZero: Schema.Boolean, most: Schema.Literals([1, 1e9]) })

describe("the ends of an axis", () => {
  it.prop("hold the values between them", [Schema.Finite, Schema.Finite, Bounds], ([a, b, bounds]) => {
    const [low, high] = [Math.min(a, b) / 2, Math.max(a, b) / 2]
    const [bottom, top] = ends(low, high, bounds)
    assert.isTrue(bottom <= low && top >= high && bottom < top)
  })

  it.prop("lie where a share can be, whatever the shares", [Share, Share, Schema.Boolean], ([a, b, fromZero]) => {
    const [bottom, top] = ends(Math.min(a, b), Math.max(a, b), { fromZero, most: 1 })
    assert.isTrue(bottom >= 0 && top <= 1)
    if (fromZero) assert.strictEqual(bottom, 0)
  })

  it("do not go below 0 where no value does", () => {
    assert.deepStrictEqual(ends(0, 0), [0, 1])
    assert.isBelow(ends(-1, 0)[0], -1)
  })
})
