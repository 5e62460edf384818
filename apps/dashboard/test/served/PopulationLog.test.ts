import { assert, describe, it } from "@effect/vitest"
import type { PopulationEvent } from "@inspo/cohorts"
import * as fc from "fast-check"
import { eventful, Life, step } from "../../../../packages/cohorts/test/support/Life.ts"
import { append, empty, membersOf, type PopulationLog } from "../../src/served/PopulationLog.ts"

const logOf = (events: ReadonlyArray<PopulationEvent>): PopulationLog =>
  events.reduce((log, event) => append(log, event, "2026-01-01T00:00:00.000Z"), empty)

/** Long enough to prune. */
const longLife = (): Life => {
  const life = new Life(eventful("trainer"))
  for (let round = 1; round <= 40; round++) life.train(30, 1, round)
  return life
}

describe("PopulationLog", () => {
  it("has a reason for each removed member, and no candidates that never entered", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("online", "trainer"),
        fc.array(step, { minLength: 1, maxLength: 40 }),
        (profile, steps) => {
          const life = new Life(eventful(profile))
          for (const [index, one] of steps.entries()) life.take(one, index + 1)
          const members = [...membersOf(logOf(life.log)).values()]
          for (const { id } of members) assert.match(id, /^i\d+$/u)
          assert.deepStrictEqual(
            members.flatMap(({ id, left }) => (left === null ? [id] : [])).toSorted(),
            life.state.learning.population.members.map(({ instruction }) => instruction.id).toSorted()
          )
          for (const { left } of members) if (left !== null) assert.notStrictEqual(left.why, "")
        }
      ),
      { numRuns: 60 }
    )
  })

  it("states the figures of each pruning", () => {
    const life = longLife()
    const pruned = [...membersOf(logOf(life.log)).values()].filter(({ left }) => left?.how === "pruned")
    assert.isNotEmpty(pruned)
    for (const { left } of pruned) {
      assert.match(
        left?.why ?? "",
        /^not the best of the population, with certainty \d+\.\d %; value [\d.]+, against [\d.]+ of i1$/u
      )
    }
  })

  it("never states more certainty than there was", () => {
    const life = longLife()
    fc.assert(
      fc.property(fc.double({ min: 0.9, max: 1 - 2 ** -53, noNaN: true }), (certainty) => {
        const log = life.log.map((event) =>
          event._tag === "Pruned" ? { ...event, pruned: event.pruned.map((one) => ({ ...one, certainty })) } : event
        )
        const stated = [...membersOf(logOf(log)).values()].flatMap(({ left }) =>
          left?.how === "pruned" ? [Number(/certainty (\d+\.\d) %/u.exec(left.why)?.[1])] : []
        )
        assert.isNotEmpty(stated)
        for (const percent of stated) assert.isAtMost(percent / 100, certainty)
      })
    )
  })
})
