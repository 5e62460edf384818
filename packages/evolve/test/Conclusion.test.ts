import { assert, describe, it } from "@effect/vitest"
import { Instruction } from "@inspo/domain"
import * as fc from "fast-check"
import { sentence } from "../src/SearchView.ts"

/** The differences and the half of the interval of a test that shows no gain. */
const undecided = fc
  .record({
    mean: fc.double({ min: -0.5, max: 0.5, noNaN: true }),
    below: fc.double({ min: 0.001, max: 0.9, noNaN: true }),
    above: fc.double({ min: 0.001, max: 0.9, noNaN: true }),
    cases: fc.integer({ min: 3, max: 400 }),
    minimalGain: fc.constantFrom(0.02, 0.1, 0.3)
  })
  .filter(({ below, mean }) => mean - below <= 0)

const said = ({ above, below, cases, mean, minimalGain }: typeof undecided extends fc.Arbitrary<infer A> ? A : never) =>
  sentence(
    {
      callsNeeded: 1,
      largestPossibleGain: null,
      minimalGain,
      test: {
        finalist: Instruction.InstructionId.make("i1"),
        original: 0.5,
        cases,
        sessions: cases,
        course: [],
        gain: { mean, lower: mean - below, upper: mean + above }
      }
    },
    1
  )

describe("a test that shows no gain", () => {
  it("asks for more held-out cases than it had, or says why more show nothing", () => {
    fc.assert(
      fc.property(undecided, (test) => {
        const [, needed] = /about (\d+) held-out cases, (\d+) in all/u.exec(said(test)) ?? []
        if (needed === undefined) assert.isBelow(test.mean + test.above, Math.max(0, test.minimalGain))
        else assert.isAtLeast(Number(needed), test.cases)
      })
    )
  })

  it("asks for four times the cases where its interval is twice as wide as the gain", () => {
    assert.include(
      said({ mean: 0.05, below: 0.2, above: 0.2, cases: 30, minimalGain: 0.1 }),
      "about 120 held-out cases, 240 in all, show a gain of 10.0 points"
    )
  })
})
