import { assert, describe, it } from "@effect/vitest"
import { fold, type PopulationEvent, Replay } from "@inspo/cohorts"
import * as fc from "fast-check"
import { eventful, Life, step } from "./support/Life.ts"

const lived = fc
  .tuple(fc.constantFrom("online", "trainer"), fc.array(step, { minLength: 5, maxLength: 40 }))
  .map(([profile, steps]) => {
    const life = new Life(eventful(profile))
    for (const [index, one] of steps.entries()) life.take(one, index + 1)
    return life
  })

/** A long life in which members are pruned. */
const pruning = (): ReadonlyArray<PopulationEvent> => {
  const life = new Life(eventful("trainer"))
  for (let round = 1; round <= 40; round++) life.train(30, 1, round)
  return life.events
}

describe("Replay", () => {
  it("makes every decision of a log again as it was made", () => {
    fc.assert(
      fc.property(lived, ({ events }) => {
        const { decisions, difference, events: seen, state } = Replay.replay(events)
        assert.isNull(difference)
        assert.strictEqual(seen, events.length)
        assert.deepStrictEqual(state.learning, fold(events).learning)
        assert.isAtLeast(decisions, events.filter(({ _tag }) => _tag === "Concluded").length)
      }),
      { numRuns: 60 }
    )
  })

  it("finds a decision that was changed", () => {
    const log = pruning()
    const at = log.findIndex((event) => event._tag === "Pruned" && event.pruned.length > 0)
    const forged = log.map((event, index): PopulationEvent =>
      index === at && event._tag === "Pruned"
        ? { ...event, pruned: [], kept: [...event.kept, ...event.pruned.map(({ id }) => id)] }
        : event
    )
    assert.isAtLeast(at, 0)
    const { difference } = Replay.replay(forged)
    assert.strictEqual(difference?.index, at)
    assert.strictEqual(difference?.event, "Pruned")
    assert.include(difference?.replayed, "worse")
  })
})
