import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { request } from "../../src/agents/Graph.ts"
import { play } from "../support/Play.ts"

const turn = (seed: string) => Number(seed.split("/").at(-1))

describe("graph", () => {
  it.effect("numbers the thoughts that its work makes, and shows the worker the named ones alone", () =>
    Effect.gen(function* () {
      const texts = [
        "<split> 0</split>",
        "<solve> 1</solve>",
        "<score> 3</score>",
        "<merge> 2, 3</merge>",
        "<refine> 9</refine>",
        "<answer> Ostrel Bay</answer>"
      ]
      const { prompts, trajectories } = yield* play(
        (prompt, { seed }) =>
          prompt.includes("one a line")
            ? "Who is the mayor?\nWhere was she born?"
            : prompt.includes("step by step")
              ? "Marlen Tovik."
              : prompt.includes("from 0 to 10")
                ? "7"
                : prompt.includes("one answer from these")
                  ? "Ostrel Bay."
                  : (texts[turn(seed)] ?? ""),
        { config: { agent: "graph", maxTurns: 5 } }
      )
      const [one = assert.fail()] = trajectories
      assert.deepStrictEqual(
        one.transcript.map(({ observation }) => observation),
        [
          "<information> 1: Who is the mayor?\n2: Where was she born?</information>",
          "<information> 3: Marlen Tovik.</information>",
          "<information> 7</information>",
          "<information> 4: Ostrel Bay.</information>",
          "<information> The refine failed. Name the numbers of thoughts.</information>",
          null
        ]
      )
      const merging = prompts.find((prompt) => prompt.includes("one answer from these")) ?? assert.fail()
      assert.include(merging, "<information> Where was she born?\nMarlen Tovik.</information>")
      assert.notInclude(merging, "Who is the mayor?")
      assert.include(prompts[0], request)
      assert.deepStrictEqual([one.reward, one.toolCalls], [1, 0])
    })
  )
})
