import { assert, describe, it } from "@effect/vitest"
import * as PromptfooScore from "../../src/evolve/PromptfooScore.ts"

describe("an assertion of promptfoo", () => {
  it.each([
    ["equals", "red", "red\n", 0],
    ["equals", "red", " red ", 0],
    ["equals", "Red", "red", 0],
    ["equals", "caf\u00e9", "cafe\u0301", 0],
    ["equals", 5, "5", 1],
    ["equals", { a: 1 }, '{"a": 1.0}', 1],
    ["equals", { a: 1 }, "a", 0],
    ["contains", " no", "snow", 0],
    ["contains", "b ", "a b", 0],
    ["icontains", "NO", "snow", 1],
    ["contains-any", "x, no", "snow", 1],
    ["contains-any", ["x", "No"], "snow", 0],
    ["icontains-any", ["x", "No"], "snow", 1],
    ["contains-all", ["s", "now"], "snow", 1],
    ["icontains-all", "S,x", "snow", 0],
    ["starts-with", "sn", "snow", 1],
    ["regex", "(?<=s)n", "snow", 1],
    ["regex", "^now", "snow", 0],
    ["is-json", null, "[1]", 1],
    ["is-json", null, "snow", 0]
  ] as const)("%s %j scores %j with %d", (type, value, output, score) => {
    const assertion = { type, value, not: false }
    assert.isNull(PromptfooScore.fault(assertion))
    assert.strictEqual(PromptfooScore.score(assertion, output), score)
    assert.strictEqual(PromptfooScore.score({ ...assertion, not: true }, output), score === 1 ? 0 : 1)
  })

  it("has no score where its regular expression does not end", () => {
    const assertion = { type: "regex", value: "^(a+)+$", not: false } as const
    assert.isNull(PromptfooScore.score(assertion, `${"a".repeat(50)}!`))
  })
})
