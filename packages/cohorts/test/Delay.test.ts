/** @module-tag deep */
import { assert, describe, it } from "@effect/vitest"
import { snapshot } from "@inspo/cohorts"
import { contest, live, naive, weathers } from "./support/Delay.ts"

const seeds = Array.from({ length: 6 }, (_, index) => index + 1)

describe("equal instructions", () => {
  for (const [name, weather] of Object.entries(weathers))
    for (const [batch, evolveEvery] of name === "all of it"
      ? ([
          [12, 20],
          [1, 60]
        ] as const)
      : ([[12, 20]] as const))
      it(`are pruned as worse in at most δ of all lives, in cohorts of ${batch}: ${name}`, () => {
        const lives = Array.from({ length: 20 }, (_, index) =>
          live({ seed: index + 1, weather, evolutions: 3, evolveEvery, mean: 0.5, batch })
        )
        for (const { evolutions } of lives) assert.strictEqual(evolutions, 3)
        // More than 3 of 20 happen once in sixty times at a risk of 0.05.
        assert.isAtMost(lives.filter(({ claimed, worse }) => worse > 0 || claimed).length, 3)
      })

  for (const name of ["bad rewards 20 cohorts late", "60 % of bad rewards never come", "bad ones fail"] as const)
    it(`are pruned where rewards are fed as they arrive: ${name}`, () => {
      const fed = { weather: weathers[name], mean: 0.5, batch: 24, steps: 200 }
      for (const seed of seeds) assert.isTrue(naive({ seed, ...fed }))
    })
})

describe("of two instructions, 0.8 and 0.3", () => {
  const two = { means: [0.8, 0.3], batch: 200 } as const

  it("the worse one is found if missing rewards have a value, even if one in twenty is reported", () => {
    for (const [response, atMost] of [
      [0.2, 20],
      [0.05, 60]
    ] as const) {
      const { decidedAt } = contest({ ...two, seed: 1, response, missingRewards: { value: 0.5 }, cohorts: 60 })
      assert.isAtMost(decidedAt ?? Infinity, atMost)
    }
  })

  it("neither gets most of the traffic while missing rewards forbid a decision, whichever of them lacks rewards", () => {
    for (const response of [0.3, { i0: 0.1, i1: 1 }, { i0: 1, i1: 0.1 }]) {
      const { decidedAt, server } = contest({ ...two, seed: 1, response, missingRewards: "worst", cohorts: 20 })
      assert.isNull(decidedAt)
      server.lease(21, ["next"])
      const { shares = [] } = server.state.cohorts.at(-1) ?? {}
      for (const { probability } of shares) assert.approximately(probability, 0.5, 0.12)
    }
  })

  it("if missing rewards may hide anything, they forbid a decision, which is reported", () => {
    const { decidedAt, server } = contest({ ...two, seed: 1, response: 0.2, missingRewards: "worst", cohorts: 30 })
    assert.isNull(decidedAt)
    assert.deepEqual(
      snapshot(server.strategies, server.state).missingRewardsForbid.map(({ better, worse }) => [better, worse]),
      [["i1", "i0"]]
    )
    const heard = contest({ ...two, seed: 1, response: 0.85, missingRewards: "worst", cohorts: 30 })
    assert.isAtMost(heard.decidedAt ?? Infinity, 10)
    assert.isEmpty(snapshot(heard.server.strategies, heard.server.state).missingRewardsForbid)
  })
})
