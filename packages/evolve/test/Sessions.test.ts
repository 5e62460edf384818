import { assert, describe, it } from "@effect/vitest"
import { InvalidInput } from "@inspo/domain"
import { Conclude, instructionId } from "@inspo/evolution"
import { Array as Arr, Schema } from "effect"
import * as Comparison from "../src/Comparison.ts"
import * as Sessions from "../src/Sessions.ts"
import * as Setup from "../src/Setup.ts"
import { cases, compared } from "./support/InSessions.ts"

const sessions = Schema.Array(Schema.NullOr(Schema.Literals(["a", "b", "c", "d", "e"]))).check(Schema.isMinLength(6))
const made = (named: ReadonlyArray<string | null>, randomSeed: number, given = named) =>
  Setup.make({ prompt: "P", cases: named.length, sessions: given, calls: 60, usd: null, minimalGain: 0.1, randomSeed })

class Hidden {
  readonly #value: number
  constructor(value: number) {
    this.#value = value
  }
  get value() {
    return this.#value
  }
}

describe("cases whose JSON is equal", () => {
  it.each<readonly [what: string, one: unknown, other: unknown]>([
    ["maps", new Map([["n", 1]]), new Map([["n", 2]])],
    ["objects of a class", new Hidden(1), new Hidden(2)],
    ["functions", { check: () => 1 }, { check: () => 2 }],
    ["numbers that JSON has not", { n: NaN }, { n: null }]
  ])("are refused where they differ: %s", (_, one, other) => {
    assert.throws(() => Setup.distinct([one, other]), /case 2 is .* in JSON, like another case that differs; expected/u)
    assert.strictEqual(Setup.distinct([one, one]).repeated, 1)
  })
})

describe("the fewest cases of a search", () => {
  it("are those by which its test can show something", () => {
    const wins = (count: number) => Array.from({ length: count }, () => ({ least: 1, most: 1 }))
    const begun = (cases: number, calls: number) =>
      Setup.begin({ prompt: "P", cases, calls, usd: null, minimalGain: 0.1, randomSeed: 1 }).test.length
    assert.strictEqual(Conclude.heldOut(wins(begun(10, 29)), { seed: 1 }).verdict, "better")
    assert.notStrictEqual(Conclude.heldOut(wins(4), { seed: 1 }).verdict, "better")
    assert.throws(() => begun(9, 29), /cases is 9; expected at least 10/u)
    assert.throws(() => begun(10, 28), /budget\.calls is 28; expected a whole number of at least 29/u)
  })
})

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
    assert.deepStrictEqual(Sessions.of([first, again, number, empty, "3"]), ["a", "b", "7", null, null])
    assert.deepStrictEqual(Setup.distinct([first, again, number, empty]).distinct, [first, empty])
  })
})

describe("sessions of a comparison", () => {
  it.prop(
    "are asked one after the other, and each is one observation of all its cases",
    [Schema.Int, Schema.Literals([1, 2, 5]), Schema.Literals([3, 8]), Schema.Literals([7, 1000])],
    ([seed, each, count, calls]) => {
      for (const state of compared(seed, "anytime", cases(count, each), calls)) {
        const { asked, setup } = state
        const runs = Arr.chunksOf(setup.order, each).map((own) => own.map((index) => setup.sessions[index]))
        assert.isTrue(runs.every((own) => new Set(own).size === 1))
        if (state.round === null) assert.strictEqual(asked % each, 0)
        const pairs = Comparison.pairsOf(state, instructionId(1))
        const found = Comparison.sessionsOf(setup, pairs)
        assert.isTrue(found.every(({ after, least }) => after.length === each && Math.abs(least) === 1))
        assert.strictEqual(found.length, Math.floor(pairs.length / each))
      }
    }
  )

  it("are those of the file: a comparison in another order does not go on", () => {
    const [begun] = compared(1, "anytime", cases(4, 3))
    const asks = [{ prompt: Comparison.control, case: begun?.setup.order[1] ?? 0, sample: 0 }]
    assert.throws(
      () => begun && Comparison.apply(begun, { _tag: "RoundPlanned", step: 1, kind: "test", asks }),
      /not asked in this order/u
    )
  })
})
