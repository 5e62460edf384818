import { assert, describe, it } from "@effect/vitest"
import { Trajectory } from "@inspo/domain"
import { Effect } from "effect"
import { play } from "../support/Play.ts"

describe("budgets", () => {
  it.effect("tells the members of a group their budgets in turn, in the prompt, and records them", () =>
    Effect.gen(function* () {
      const { prompts, trajectories } = yield* play(() => "<answer> Ostrel Bay</answer>", {
        config: { agent: { name: "budgets", budgets: [64, 256] } },
        episodes: 4,
        inGroup: true
      })
      assert.deepStrictEqual(
        prompts.map((prompt) => /within about (\d+) tokens\.<\|assistant\|>$/u.exec(prompt)?.[1]),
        ["64", "256", "64", "256"]
      )
      assert.deepStrictEqual(
        trajectories.map(({ budget, mask }) => [budget, mask.every((isAction) => isAction === 1)]),
        [64, 256, 64, 256].map((budget) => [budget, true])
      )
    })
  )

  it.effect("is search-r1 outside a group", () =>
    Effect.gen(function* () {
      const script = (prompt: string) =>
        prompt.includes("</information>") ? "<answer> Ostrel Bay</answer>" : "<search> mayor</search>"
      const one = (agent: "budgets" | "search-r1") => play(script, { config: { agent } })
      const { trajectories } = yield* one("budgets")
      assert.deepStrictEqual(trajectories, (yield* one("search-r1")).trajectories)
      assert.isTrue(trajectories.every((one) => Trajectory.segments(one).length === 1))
    })
  )
})
