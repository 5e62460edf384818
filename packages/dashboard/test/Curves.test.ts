import { assert, describe, it } from "@effect/vitest"
import { look, mostCompared } from "../src/Curves.ts"

describe("curves of one chart", () => {
  it("all look different, up to the most that can be compared", () => {
    const looks = Array.from({ length: mostCompared }, (_, index) => JSON.stringify(look(index)))
    assert.strictEqual(new Set(looks).size, mostCompared)
  })
})
