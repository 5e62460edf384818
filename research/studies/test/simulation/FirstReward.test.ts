import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect } from "effect"
import * as FirstReward from "../../src/simulation/FirstReward.ts"

const sentences = ["Be brief.", "Name the year.", "Ask first.", "Use a list.", "Write twice.", "Be kind.", "Say why."]
const budget = { steps: 30, questions: 4, groupSize: 4 }
const schedule = { pruneEvery: 3, evolveEvery: 3, evolveUntil: 12 }

const outcomes = (chanceOf: (text: string) => number, searchEvery: number, count: number) =>
  Effect.forEach(Arr.range(1, count), (seed) =>
    FirstReward.simulate(
      { seedInstruction: "Answer.", sentences, chanceOf },
      { ...schedule, searchEvery },
      budget,
      seed
    )
  )

/** Two sentences are needed. */
const rare = (text: string) => (text.includes("Name the year.") && text.includes("Say why.") ? 0.1 : 0)

describe("the search for a first reward", () => {
  it.effect("repeats with the same seed, and is the same until the first evolution", () =>
    Effect.gen(function* () {
      const single = (text: string) => (text.includes("Be kind.") ? 0.05 : 0)
      const [first, again, usual] = yield* Effect.all([
        outcomes(single, 1, 20),
        outcomes(single, 1, 20),
        outcomes(single, 0, 20)
      ])
      assert.deepStrictEqual(first, again)
      const early = (all: typeof first) => all.map((one) => (one.step !== null && one.step <= 3 ? one : null))
      assert.deepStrictEqual(early(first), early(usual))
      assert.isTrue(early(first).some((one) => one !== null))
    })
  )

  it.effect("tries others after each step until something is rewarded, otherwise until evolution ends", () =>
    Effect.gen(function* () {
      const [usual] = yield* outcomes(() => 0, 0, 1)
      const [search] = yield* outcomes(() => 0, 1, 1)
      // Seven at first, and four after steps 3, 6, 9 and 12; after each step from 3 to 29.
      assert.deepStrictEqual(usual, { step: null, instructions: 7 + 4 * 4 })
      assert.strictEqual(search?.step, null)
      assert.isAbove(search?.instructions ?? 0, 60)
    })
  )

  it.effect("finds what two sentences together earn on more seeds", () =>
    Effect.gen(function* () {
      const found = (all: ReadonlyArray<FirstReward.Outcome>) => all.filter(({ step }) => step !== null).length
      assert.isAbove(found(yield* outcomes(rare, 1, 60)), found(yield* outcomes(rare, 0, 60)) + 5)
    })
  )
})
