import { assert, describe, it } from "@effect/vitest"
import { kinds, search } from "../src/EvolveParts.ts"

describe("searches of a prompt of three texts", () => {
  it.each(kinds)("return nothing worse, and something better of ten: $name", async (kind) => {
    const found = await Promise.all(Array.from({ length: 10 }, (_, seed) => search(kind, seed)))
    assert.isTrue(found.every(({ gain }) => gain > -0.05))
    assert.isTrue(found.some(({ gain, isBetter }) => isBetter && gain > 0))
  })
})
