import { assert, describe, it } from "@effect/vitest"
import type { PopulationEvent } from "@inspo/cohorts"
import * as fc from "fast-check"
import { eventful, Life, step } from "../../../../packages/cohorts/test/support/Life.ts"
import { none, type Stories, storiesOf, tell } from "../../src/served/Stories.ts"

const told = (log: ReadonlyArray<PopulationEvent>): Stories =>
  log.reduce((stories, event) => tell(stories, event, "2026-01-01T00:00:00.000Z"), none)

/** So long that it prunes. */
const longLife = (): Life => {
  const life = new Life(eventful("trainer"))
  for (let round = 1; round <= 40; round++) life.train(30, 1, round)
  return life
}

describe("stories", () => {
  it("give a reason for each member that left, and tell nothing of candidates that never entered", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("online", "trainer"),
        fc.array(step, { minLength: 1, maxLength: 40 }),
        (profile, steps) => {
          const life = new Life(eventful(profile))
          for (const [index, one] of steps.entries()) life.take(one, index + 1)
          const stories = [...storiesOf(told(life.log)).values()]
          for (const { id } of stories) assert.match(id, /^i\d+$/u)
          assert.deepStrictEqual(
            stories.flatMap(({ id, left }) => (left === null ? [id] : [])).toSorted(),
            life.state.learning.population.members.map(({ instruction }) => instruction.id).toSorted()
          )
          for (const { left } of stories) if (left !== null) assert.notStrictEqual(left.why, "")
        }
      ),
      { numRuns: 60 }
    )
  })

  it("say with which figures one was pruned", () => {
    const life = longLife()
    const pruned = [...storiesOf(told(life.log)).values()].filter(({ left }) => left?.how === "pruned")
    assert.isNotEmpty(pruned)
    for (const { left } of pruned) {
      assert.match(
        left?.why ?? "",
        /^worse than what it was compared with, with certainty \d+\.\d %; value [\d.]+, against [\d.]+ of i1$/u
      )
    }
  })

  it("never say more certainty than there was", () => {
    const life = longLife()
    fc.assert(
      fc.property(fc.double({ min: 0.9, max: 1 - 2 ** -53, noNaN: true }), (certainty) => {
        const log = life.log.map((event) =>
          event._tag === "Pruned" ? { ...event, pruned: event.pruned.map((one) => ({ ...one, certainty })) } : event
        )
        const said = [...storiesOf(told(log)).values()].flatMap(({ left }) =>
          left?.how === "pruned" ? [Number(/certainty (\d+\.\d) %/u.exec(left.why)?.[1])] : []
        )
        assert.isNotEmpty(said)
        for (const percent of said) assert.isAtMost(percent / 100, certainty)
      })
    )
  })
})
