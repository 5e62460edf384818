import { assert, describe, it } from "@effect/vitest"
import { ByteTokenizer } from "@inspo/rollout/testing"
import { Effect } from "effect"
import { play } from "../support/Play.ts"

const { decode } = ByteTokenizer.tokenizer
const answer = "<answer> Ostrel Bay</answer>"
const agent = { name: "modes", forced: 2 } as const

describe("modes", () => {
  it.effect("forces each mode in as many members of a group, and leaves the others free", () =>
    Effect.gen(function* () {
      const { prompts, trajectories } = yield* play(() => `<reasoning>${answer}`, {
        config: { agent },
        episodes: 9,
        inGroup: true
      })
      assert.deepStrictEqual(
        prompts.map((prompt) => prompt.slice(prompt.indexOf("<|assistant|>") + "<|assistant|>".length)),
        ["instant", "instant", "reasoning", "reasoning", "agentic", "agentic"]
          .map((mode) => `<${mode}>`)
          .concat(["", "", ""])
      )
      // The forced tag is no token of the response.
      for (const { response } of trajectories) assert.strictEqual(decode(response), `<reasoning>${answer}`)
    })
  )

  it.effect.each([
    ["instant", `<think> A thought.</think>${answer}`, "invalid"],
    ["instant", answer, "answer"],
    ["reasoning", `<think> A thought.</think>${answer}`, "answer"],
    ["reasoning", "<search> mayor</search>", "invalid"],
    ["agentic", "<search> mayor</search>", "search"]
  ] as const)("allows in %s mode what it says, forced and chosen: %s", ([mode, text, kind]) =>
    Effect.gen(function* () {
      const member = { instant: 0, reasoning: 1, agentic: 2 }[mode]
      const config = { agent: { ...agent, forced: 1 } }
      const forced = yield* play(() => text, { config, episodes: 3, inGroup: true })
      assert.strictEqual(forced.trajectories[member]?.transcript[0]?.action.kind, kind)
      const chosen = yield* play(() => `<${mode}>${text}`, { config })
      assert.strictEqual(chosen.trajectories[0]?.transcript[0]?.action.kind, kind)
    })
  )

  it.effect("is agentic without a tag", () =>
    Effect.gen(function* () {
      const { trajectories } = yield* play(() => "<search> mayor</search>", { config: { agent } })
      assert.strictEqual(trajectories[0]?.toolCalls, 4)
    })
  )
})
