import { assert, describe, it } from "@effect/vitest"
import { History, type PopulationEvent, Summary } from "@inspo/cohorts"
import { Schema } from "effect"
import * as fc from "fast-check"
import { eventful, Life, step } from "./support/Life.ts"

const summaryOf = (log: ReadonlyArray<PopulationEvent>) => log.flatMap((event) => Summary.summarize(event) ?? [])

const lives = fc
  .record({
    profile: fc.constantFrom("online" as const, "trainer" as const),
    steps: fc.array(step, { minLength: 1, maxLength: 40 })
  })
  .map(({ profile, steps }) => {
    const life = new Life(eventful(profile))
    for (const [index, one] of steps.entries()) life.take(one, index + 1)
    return life
  })

describe("a summary", () => {
  it("has the history of its log, over the wire too", () => {
    const encode = Schema.encodeSync(Summary.SummaryEvent)
    const decode = Schema.decodeUnknownSync(Summary.SummaryEvent)
    fc.assert(
      fc.property(lives, ({ log }) => {
        const sent = summaryOf(log).map((event) => decode(JSON.parse(JSON.stringify(encode(event)))))
        assert.deepStrictEqual(sent.reduce(History.after, History.none), log.reduce(History.after, History.none))
      }),
      { numRuns: 60 }
    )
  })

  it("counts each unit with a reward once, and has no lease and no single reward", () => {
    fc.assert(
      fc.property(lives, ({ log }) => {
        const closed = log.filter((event) => event._tag === "Closed")
        const short = summaryOf(log).filter((event) => event._tag === "Closed")
        assert.lengthOf(short, closed.length)
        for (const [index, { units }] of closed.entries()) {
          const tallies = short[index]?.tallies ?? {}
          const rewarded = units.filter(({ rewards }) => rewards.length > 0)
          assert.sameMembers(Object.keys(tallies), [...new Set(rewarded.map(({ instruction }) => instruction))])
          for (const [id, { sum, units: counted }] of Object.entries(tallies)) {
            const own = rewarded.filter(({ instruction }) => instruction === id)
            assert.strictEqual(counted, own.length)
            const means = own.map(({ rewards }) => rewards.reduce((total, one) => total + one, 0) / rewards.length)
            assert.approximately(
              sum,
              means.reduce((total, one) => total + one, 0),
              1e-9
            )
          }
        }
        const text = JSON.stringify(summaryOf(log))
        for (const event of log)
          if (event._tag === "Leased") for (const { lease } of event.leases) assert.notInclude(text, `"${lease}"`)
      }),
      { numRuns: 60 }
    )
  })
})
