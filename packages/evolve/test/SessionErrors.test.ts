/** @module-tag deep */
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect } from "effect"
import { evolve } from "../src/index.ts"
import { cases, compared, solves } from "./support/InSessions.ts"

describe("sessions of a comparison", () => {
  it.each(["anytime", "final"] as const)("leave equal prompts undecided in 19 of 20 comparisons: %s", (looks) => {
    const wrong = Arr.makeBy(300, (seed) => compared(seed, looks, cases(20, 6)).at(-1)?.shown[0]).filter((shown) =>
      shown?.has("better")
    )
    assert.isAtMost(wrong.length, 15 + 2 * Math.sqrt(15))
  })
})

describe("sessions of a search", () => {
  it.effect("leave equal prompts as they are in 19 of 20 searches, and are named in its report", () =>
    Effect.gen(function* () {
      const results = yield* Effect.forEach(Arr.range(1, 100), (seed) =>
        Effect.promise(() =>
          evolve({
            prompt: "A",
            cases: cases(12, 5),
            agent: (prompt, { session }) => solves(seed, prompt, session),
            score: (output) => output,
            proposer: ["Be brief."],
            budget: { calls: 150 },
            randomSeed: seed
          })
        )
      )
      assert.isAtMost(results.filter(({ verdict }) => verdict === "better").length, 5 + 2 * Math.sqrt(5))
      assert.isTrue(
        results.some((one) => / held-out cases of \d+ sessions, each of which counts once/u.test(one.report()))
      )
    })
  )
})
