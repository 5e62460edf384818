import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect } from "effect"
import { choose } from "../choose-a-prompt/ChooseAPrompt.ts"
import { converse, prompts } from "../choose-a-prompt/ScriptedBot.ts"

const chosen = (seed: number) => choose({ prompts, converse, steps: 25, conversationsPerStep: 40, seed })

describe("choose a prompt", () => {
  it.effect("finds the prompt that helps most, by conversations alone", () =>
    Effect.gen(function* () {
      for (const seed of Arr.range(1, 10)) {
        const [best] = (yield* chosen(seed)).at(-1)?.left ?? []
        assert.strictEqual(best?.prompt, "Ask which order it is about, look it up, then answer the customer.")
      }
    })
  )

  it.effect("gives equal seeds equal rankings", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* chosen(3), yield* chosen(3))
    })
  )
})
