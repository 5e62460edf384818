import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Tool } from "@inspo/rollout"
import { play } from "../support/Play.ts"

const turn = (seed: string) => Number(seed.split("/").at(-1))
const expert = Tool.each("ask-expert", "<ask-expert> question</ask-expert> asks.", (asked) =>
  Effect.succeed(`It is Ostrel Bay, as to ${asked}`)
)
const attempts = ["<answer> St. Ives</answer>", "<answer> Ostrel Bay</answer>"]

const decided = (texts: ReadonlyArray<string>) =>
  play(
    (_, { seed }) => {
      const attempt = /attempt-(\d)$/u.exec(seed)?.[1]
      return attempt === undefined ? (texts[turn(seed)] ?? "") : (attempts[Number(attempt)] ?? "")
    },
    { config: { agent: { name: "defer", attempts: 2, expert: "ask-expert" } }, options: { tools: [expert] } }
  )

describe("defer", () => {
  it.effect.each([
    ["<accept> 2</accept>", "(answer) Ostrel Bay(/answer)", "accept"],
    ["<create> No town fits.</create>", "Solve the question again.", "create"],
    ["<defer> the mayor</defer>", "It is Ostrel Bay, as to the mayor", "defer"]
  ] as const)("shows what follows from %s", ([decision, shown, kind]) =>
    Effect.gen(function* () {
      const { prompts, trajectories } = yield* decided([decision, "<answer> Ostrel Bay</answer>"])
      const [one = assert.fail()] = trajectories
      // Each attempt is from the plain prompt; the policy sees both.
      assert.lengthOf(prompts, 4)
      assert.strictEqual(prompts[0], prompts[1])
      assert.include(prompts[2], "1: St. Ives. (answer) St. Ives(/answer)")
      assert.include(prompts[2], "2: Ostrel Bay. (answer) Ostrel Bay(/answer)")
      assert.deepStrictEqual(
        one.transcript.map(({ action, observation }) => [action.kind, observation]),
        [
          [kind, `<information> ${shown}</information>`],
          ["answer", null]
        ]
      )
      assert.deepStrictEqual([one.reward, one.toolCalls], [1, kind === "defer" ? 1 : 0])
    })
  )

  it.effect("takes no answer before a decision, and no attempt that there is not", () =>
    Effect.gen(function* () {
      const { trajectories } = yield* decided([
        "<answer> Ostrel Bay</answer>",
        "<accept> 3</accept>",
        "<accept> 1</accept>",
        "<answer> St. Ives</answer>"
      ])
      const [one = assert.fail()] = trajectories
      assert.deepStrictEqual(
        one.transcript.map(({ action }) => action.kind),
        ["invalid", "accept", "accept", "answer"]
      )
      assert.include(one.transcript[1]?.observation, "The accept failed.")
    })
  )
})
