import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Model, play } from "../keep-context/KeepContext.ts"

/** Searches for the mayor, then for the town, and keeps what it needs by `keep`. */
const model =
  (keep: (conversation: string) => string | null): Model =>
  (conversation) => {
    const report = "<report> The mayor is Marlen Tovik.</report>"
    if (conversation.includes("Ostrel Bay")) return "<answer> Ostrel Bay</answer>"
    if (conversation.includes("Tovik")) return keep(conversation) ?? `${report}<search> Marlen Tovik</search>`
    return `${report}<search> mayor of Trell</search>`
  }

describe("agents that keep their context short", () => {
  it.effect("read all, what is left of a memory, or a report and the last result", () =>
    Effect.gen(function* () {
      const all = yield* play(
        "search-r1",
        model(() => null)
      )
      const pruned = yield* play(
        "memory",
        model((read) => (read.includes("harbour") ? "<prune> 1: The mayor is Marlen Tovik.</prune>" : null))
      )
      const reported = yield* play(
        "iter-research",
        model(() => null)
      )
      for (const { answer } of [all, pruned, reported]) assert.strictEqual(answer, "Ostrel Bay")
      assert.include(all.read.at(-1), "harbour")
      for (const { read } of [pruned, reported]) {
        assert.notInclude(read.at(-1), "harbour")
        assert.include(read.at(-1), "The mayor is Marlen Tovik.")
      }
    })
  )
})
