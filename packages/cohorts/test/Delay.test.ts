import { assert, describe, it } from "@effect/vitest"
import { snapshot } from "@inspo/cohorts"
import { contest, live, naive, power, weathers } from "./support/Delay.ts"

const seeds = Array.from({ length: 6 }, (_, index) => index + 1)

describe("equal instructions", () => {
  for (const [name, weather] of Object.entries(weathers))
    it(`are not pruned as worse over ten evolutions: ${name}`, () => {
      for (const seed of seeds) {
        const { claimed, evolutions, worse } = live({ seed, weather, evolutions: 10, mean: 0.5, batch: 12 })
        assert.deepEqual([evolutions, worse, claimed], [10, 0, false])
      }
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
      assert.deepEqual(
        shares.map(({ id, probability }) => [id, Number(probability.toFixed(3))]),
        [
          ["i0", 0.5],
          ["i1", 0.5]
        ]
      )
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

describe("without delay", () => {
  it("the rule of a run decides in cohorts when it does in a run, and the one for life needs no more steps", () => {
    for (const seed of seeds.slice(0, 4)) {
      const { batch, lifelong, running } = power({ seed, means: [0.6, 0.4, 0.4, 0.4], evolutions: 10, pruneEvery: 5 })
      assert.isNotNull(batch)
      assert.strictEqual(running, batch)
      assert.isAtMost(lifelong ?? Infinity, 1.1 * (batch ?? 0))
    }
  })

  it("the rule for life needs at most a tenth more of two where no evolution is planned, at the same promise to both", () => {
    const ended = Array.from({ length: 60 }, (_, index) =>
      power({ seed: index + 1, means: [0.6, 0.4], evolutions: 0, pruneEvery: 1 })
    )
    const median = (of: "batchOfAll" | "lifelong") =>
      ended.map((one) => one[of] ?? Infinity).toSorted((a, b) => a - b)[30] ?? Infinity
    assert.isAtMost(median("lifelong"), 1.1 * median("batchOfAll"))
  })
})
