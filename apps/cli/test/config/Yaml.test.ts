import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Yaml from "../../src/config/Yaml.ts"

describe("YAML", () => {
  it("is any JSON", () => {
    const value = fc.jsonValue({ maxDepth: 4 })
    fc.assert(
      fc.property(value, (one) =>
        assert.deepStrictEqual(Yaml.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(one)))
      )
    )
  })

  it("may share a value, and nest it to a hundred levels", () => {
    assert.deepStrictEqual(Yaml.parse("a: &x [1]\nb: *x\nc: [*x, *x]"), { a: [1], b: [1], c: [[1], [1]] })
    assert.isArray(Yaml.parse(`${"[".repeat(Yaml.deepest)}${"]".repeat(Yaml.deepest)}`))
  })

  it.each([
    ["a cycle", "a: &x\n  - *x", /^an alias is a value that contains it; write the value out$/u],
    ["a cycle of maps", "a: &x { b: { c: *x } }", /^an alias is a value that contains it/u],
    ["101 lists", "[".repeat(101) + "]".repeat(101), /^it is nested too deeply; expected at most 100 levels$/u],
    [
      "200,000 lists",
      "[".repeat(200_000) + "]".repeat(200_000),
      /^it is nested too deeply; expected at most 100 levels$/u
    ],
    [
      "200,000 maps",
      '{"a":'.repeat(200_000) + "1" + "}".repeat(200_000),
      /^it is nested too deeply; expected at most 100 levels$/u
    ],
    ["an open list", "a: [1", /^[^\n]*[^.:]$/u]
  ])("is refused in one line: %s", (_, text, problem) => {
    assert.throws(() => Yaml.parse(text), problem)
  })
})
