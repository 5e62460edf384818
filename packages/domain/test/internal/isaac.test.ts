import { assert, describe, it } from "@effect/vitest"
import { Array as Arr } from "effect"
import { isaac } from "../../src/internal/isaac.ts"

describe("isaac", () => {
  // burtleburtle.net/bob/rand/randvect.txt: the second and third block of the seed 0, each read from its end here.
  it("gives the published words of the seed 0", () => {
    const word = isaac("")
    const block = () => Arr.makeBy(256, () => (word() >>> 0).toString(16).padStart(8, "0")).toReversed()
    block()
    assert.deepStrictEqual(block().slice(0, 8), [
      "f650e4c8",
      "e448e96d",
      "98db2fb4",
      "f5fad54f",
      "433f1afb",
      "edec154a",
      "d8370487",
      "46ca4f9a"
    ])
    assert.strictEqual(block().at(-1), "4bb5af29")
  })
})
