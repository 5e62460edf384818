import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { parseSeeds } from "../src/Seeds.ts"

describe("parseSeeds", () => {
  it.each([
    ["1-3", [1, 2, 3]],
    ["7", [7]],
    ["1, 4,7-9", [1, 4, 7, 8, 9]],
    ["2-4,3", [2, 3, 4]]
  ])("reads %s", (text, seeds) => {
    assert.deepStrictEqual(Result.getOrThrow(parseSeeds("--seeds", text)), seeds)
  })

  it.each(["", "a", "3-1", "1-", "-1", "1..3", "0-5000"])("refuses %s", (text) => {
    assert.isTrue(Result.isFailure(parseSeeds("--seeds", text)))
  })
})
