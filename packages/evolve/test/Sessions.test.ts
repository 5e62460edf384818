import { assert, describe, it } from "@effect/vitest"
import { InvalidInput } from "@inspo/domain"
import { Schema } from "effect"
import * as Setup from "../src/Setup.ts"

const sessions = Schema.Array(Schema.NullOr(Schema.Literals(["a", "b", "c", "d", "e"]))).check(Schema.isMinLength(6))
const made = (named: ReadonlyArray<string | null>, randomSeed: number, given = named) =>
  Setup.make({ prompt: "P", cases: named.length, sessions: given, calls: 60, usd: null, minimalGain: 0.1, randomSeed })

describe("sessions of cases", () => {
  it.prop("are never in both halves, which are all cases", [sessions, Schema.Int], ([named, seed]) => {
    const free = made(named, seed, [])
    try {
      const { search, test } = made(named, seed)
      const of = (half: ReadonlyArray<number>) => new Set(half.flatMap((index) => named[index] ?? []))
      assert.isTrue([...of(search)].every((session) => !of(test).has(session)))
      assert.sameMembers([...search, ...test], [...free.search, ...free.test])
      assert.isAtMost(test.length, free.test.length)
    } catch (error) {
      assert.instanceOf(error, InvalidInput.InvalidInput)
      const sizes = [...Map.groupBy(named.entries(), ([index, session]) => session ?? index).values()]
      assert.isTrue(sizes.every(({ length }) => length > free.test.length))
    }
  })

  it("are those of the field of the name, and do not tell cases apart", () => {
    const [first, again, number, empty] = [
      { q: "1", session: "a" },
      { q: "1", session: "b" },
      { q: "1", session: 7 },
      { q: "2", session: "" }
    ]
    assert.deepStrictEqual(Setup.sessionsOf([first, again, number, empty, "3"]), ["a", "b", null, null, null])
    assert.deepStrictEqual(Setup.distinct([first, again, number, empty]).distinct, [first, number, empty])
  })
})
