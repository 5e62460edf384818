import { assert, describe, it } from "@effect/vitest"
import { Summary } from "@inspo/cohorts"
import * as fc from "fast-check"
import { eventful, Life, step } from "../../../../packages/cohorts/test/support/Life.ts"
import { after, none, type Rewards, series } from "../../src/served/Rewards.ts"

const lives = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 40 }),
  most: fc.integer({ min: 1, max: 30 })
})

const live = (steps: ReadonlyArray<Parameters<Life["take"]>[0]>) => {
  const life = new Life(eventful("trainer"))
  for (const [index, one] of steps.entries()) life.take(one, index + 1)
  return { life, rewards: life.log.flatMap((event) => Summary.summarize(event) ?? []).reduce(after, none) }
}

/** All units of an instruction, and the sum of their means. */
const totals = ({ cohorts }: Rewards): ReadonlyMap<string, readonly [units: number, sum: number]> => {
  const all = new Map<string, readonly [number, number]>()
  for (const { tallies } of cohorts)
    for (const [id, { sum, units }] of Object.entries(tallies)) {
      const [ownUnits, ownSum] = all.get(id) ?? [0, 0]
      all.set(id, [ownUnits + units, ownSum + sum])
    }
  return all
}

describe("Rewards", () => {
  it("has the closed cohorts that count on the present branch, each once", () => {
    fc.assert(
      fc.property(lives, ({ steps }) => {
        const { life, rewards } = live(steps)
        const { step: folded } = life.state.learning.population
        assert.deepStrictEqual(
          rewards.cohorts.map(({ cohort }) => cohort),
          Array.from({ length: folded }, (_, index) => index + 1)
        )
        for (const mark of rewards.marks) assert.isAtMost(mark.step, folded)
      }),
      { numRuns: 60 }
    )
  })

  it("is thinned to at most so many points, which hold every reward once, with the mean in its interval", () => {
    fc.assert(
      fc.property(lives, ({ most, steps }) => {
        const { rewards } = live(steps)
        const { cohorts, of } = series(rewards, most)
        assert.isAtMost(cohorts.length, most)
        const all = totals(rewards)
        assert.sameMembers([...of.keys()], [...all.keys()])
        for (const [id, points] of of) {
          assert.lengthOf(points, cohorts.length)
          const known = points.filter((point) => point !== null)
          const [units, sum] = all.get(id) ?? [0, 0]
          assert.strictEqual(
            known.reduce((total, point) => total + point.units, 0),
            units
          )
          assert.approximately(
            known.reduce((total, point) => total + point.mean * point.units, 0),
            sum,
            1e-9
          )
          for (const { ci95, mean } of known) assert.isTrue(ci95[0] <= mean && mean <= ci95[1])
        }
      }),
      { numRuns: 60 }
    )
  })

  it("takes no more points for 10,000 cohorts", () => {
    const cohorts = Array.from({ length: 10_000 }, (_, index) => ({
      cohort: index + 1,
      tallies: { i0: { units: 2, sum: 1 } }
    }))
    const thin = series({ cohorts, marks: [] }, 200)
    assert.deepStrictEqual([thin.cohorts.length, thin.cohorts.at(-1), thin.width], [200, 10_000, 50])
  })
})
