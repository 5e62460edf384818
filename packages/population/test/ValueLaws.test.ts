import { assert, describe, it } from "@effect/vitest"
import { Law } from "@inspo/domain/testing"
import { Population } from "@inspo/population"
import { ValueLaws } from "@inspo/population/testing"
import { Effect, Option } from "effect"

describe.each([
  ["lastDraws", Population.lastDraws({ window: 3 })],
  ["recentSteps", Population.recentSteps({ window: 2 })],
  [
    "recentSteps, missing rewards at 0",
    Population.make({
      window: 3,
      average: "observed",
      span: "steps",
      unseen: "mean",
      ties: "evidence",
      best: "evidence",
      missingRewards: { value: 0 }
    })
  ],
  ["compare", Population.compare]
] as const)("%s", (_, strategy) => {
  for (const { check, name } of ValueLaws.laws(strategy)) it.effect(name, () => check)
})

type Valuation = Pick<Population.Interface, "best" | "observe" | "values">
const right: Valuation = Population.recentSteps({ window: 3 })

/** For each law a valuation that breaks it, and no other. */
const bugs: Readonly<Record<string, () => Valuation>> = {
  "each member has one finite value, in the order of the population": () => ({
    ...right,
    values: (population) => right.values(population).filter(({ value }) => value > 0)
  }),
  "the best is a member, and none only of an empty population": () => ({
    ...right,
    best: (population) => (population.step === 0 ? Option.none() : right.best(population))
  }),
  "a higher reward does not lower the value of its instruction": () => ({
    ...right,
    values: (population) => right.values(population).map(({ value, ...rest }) => ({ ...rest, value: -value }))
  }),
  "equal populations have equal values, and stay as they are": () => {
    let calls = 0
    return {
      ...right,
      values: (population) =>
        right.values(population).map(({ value, ...rest }) => ({ ...rest, value: value + 1e-9 * calls++ }))
    }
  }
}

describe("the laws of values find a planted bug", { tags: "deep" }, () => {
  it.effect.each(ValueLaws.laws(right).map(({ name }) => name))("%s", (name) =>
    Effect.gen(function* () {
      const bug = bugs[name] ?? assert.fail("no bug is planted")
      assert.deepStrictEqual(
        (yield* Law.broken(ValueLaws.laws(bug()))).map(({ law }) => law),
        [name]
      )
    })
  )
})
