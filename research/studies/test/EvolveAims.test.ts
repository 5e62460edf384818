import { assert, describe, it } from "@effect/vitest"
import { aims } from "../src/EvolveAims.ts"

describe("the claims of searches with an aim", () => {
  it.each(aims)("are true where it can be reached, and not made where it cannot: $name", async ({ search }) => {
    const found = await Promise.all([1, 2, 3, 4].map((seed) => search(true, seed)))
    assert.isTrue(found.some(({ isClaimed }) => isClaimed))
    assert.isTrue(found.every(({ isClaimed, isTrue }) => !isClaimed || isTrue))
    const none = await Promise.all([1, 2, 3, 4].map((seed) => search(false, seed)))
    assert.isAtMost(none.filter(({ isClaimed }) => isClaimed).length, 1)
  })
})
