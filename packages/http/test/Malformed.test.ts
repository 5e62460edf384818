import { assert, describe, it } from "@effect/vitest"
import { Malformed } from "@inspo/http/server"
import { Result, Schema } from "effect"

const Body = Schema.Struct({
  name: Schema.String,
  rewards: Schema.Array(Schema.Struct({ value: Schema.Finite, note: Schema.optionalKey(Schema.String) })),
  mode: Schema.optionalKey(Schema.Literals(["one", "two"]))
})

const problemOf = (body: unknown) =>
  Result.match(Schema.decodeUnknownResult(Body, { onExcessProperty: "error", reportInput: true })(body), {
    onSuccess: () => assert.fail("the body is valid"),
    onFailure: ({ issue }) => Malformed.problems(issue)[0]
  })

describe("Malformed", () => {
  it("names a missing field with its type", () => {
    const { expected, path } = problemOf({ name: "a", rewards: [{ value: 1 }, {}] })
    assert.strictEqual(Malformed.fieldOf(path), "rewards[1].value")
    assert.match(expected, /^(?:a finite )?number.*; the field is required$/u)
  })

  it.each([
    { name: "x".repeat(2_000_000), rewards: "secret ".repeat(300_000) },
    { name: ["secret ".repeat(300_000)], rewards: [] },
    { name: "a", rewards: [], mode: "secret ".repeat(300_000) },
    { name: "a", rewards: [], ["secret ".repeat(300_000)]: "secret" },
    { name: "a", rewards: [], other: "secret ".repeat(300_000) },
    "secret ".repeat(300_000)
  ])("repeats no text of a large body, case %#", (body) => {
    const { expected, path } = problemOf(body)
    assert.notInclude(expected, "secret")
    assert.isBelow(expected.length + Malformed.fieldOf(path).length, 520)
  })
})
