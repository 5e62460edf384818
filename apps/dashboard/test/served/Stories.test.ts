import { assert, describe, it } from "@effect/vitest"
import type { PopulationEvent } from "@inspo/cohorts"
import * as fc from "fast-check"
import { eventful, Life, step } from "../../../../packages/cohorts/test/support/Life.ts"
import { alive, none, type Stories, tell } from "../../src/served/Stories.ts"

const told = (log: ReadonlyArray<PopulationEvent>): Stories =>
  log.reduce((stories, event) => tell(stories, event, "2026-01-01T00:00:00.000Z"), none)

describe("stories", () => {
  it("tell of the log who lives, from whom, with which texts, and why everyone else left", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("online", "trainer"),
        fc.array(step, { minLength: 1, maxLength: 40 }),
        (profile, steps) => {
          const life = new Life(eventful(profile))
          for (const [index, one] of steps.entries()) life.take(one, index + 1)
          const { folded, incumbent, population } = life.state.learning
          const stories = told(life.log)
          assert.deepStrictEqual(
            alive(stories)
              .map(({ content, id, parent }) => ({ id, content, parent }))
              .toSorted((a, b) => a.id.localeCompare(b.id)),
            population.members
              .map(({ instruction: { id, parent } }) => ({
                id: String(id),
                content: life.state.learning.dossiers[id]?.content,
                parent: parent === null ? null : String(parent)
              }))
              .toSorted((a, b) => a.id.localeCompare(b.id))
          )
          assert.strictEqual(stories.folded, folded)
          assert.strictEqual(stories.incumbent, incumbent.id)
          for (const { left } of stories.stories.values()) if (left !== null) assert.notStrictEqual(left.why, "")
        }
      ),
      { numRuns: 60 }
    )
  })

  it("say with which figures one was pruned", () => {
    const life = new Life(eventful("trainer"))
    for (let round = 1; round <= 40; round++) life.train(30, 1, round)
    const pruned = [...told(life.log).stories.values()].filter(({ left }) => left?.how === "pruned")
    assert.isNotEmpty(pruned)
    for (const { left } of pruned) {
      assert.match(
        left?.why ?? "",
        /^worse than what it was compared with, with certainty \d+\.\d %; value [\d.]+, against [\d.]+ of i1$/u
      )
    }
  })
})
