import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import { distance, nearest } from "../../src/config/Suggestion.ts"

const Word = Schema.String.check(Schema.isPattern(/^[abc]{0,5}$/))

describe("distance", () => {
  it.prop("is a metric", [Word, Word, Word], ([a, b, c]) => {
    assert.strictEqual(distance(a, b) === 0, a === b)
    assert.strictEqual(distance(a, b), distance(b, a))
    assert.isAtMost(distance(a, c), distance(a, b) + distance(b, c))
  })

  it("counts insertions, deletions and replacements", () => {
    assert.strictEqual(distance("kitten", "sitting"), 3)
    assert.strictEqual(distance("", "abc"), 3)
  })
})

describe("nearest", () => {
  const known = ["schedule.steps", "population.size", "rollout.groupSize"]
  it.each([
    ["schedule.step", "schedule.steps"],
    ["Schedule.Steps", "schedule.steps"],
    ["size", "population.size"],
    ["rolout.groupsize", "rollout.groupSize"]
  ])("takes %s for %s", (name, meant) => {
    assert.deepStrictEqual(nearest(name, known), Option.some(meant))
  })

  it("does not guess at what is far from everything", () => {
    assert.deepStrictEqual(nearest("colour", known), Option.none())
  })
})
