import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { RandomStream } from "@inspo/domain"
import { layer, loop } from "../own-loop/OwnLoop.ts"

describe("an agent loop of one's own", () => {
  it.effect("finds a better prompt with the complete services alone", () =>
    Effect.gen(function* () {
      const stream = RandomStream.make(7, ["agent"])
      const revisions = ["Be polite.", "Search first.", "Answer in verse.", "Name the source.", "Be brief."]
      const shown: Array<ReadonlyArray<string>> = []
      const worth = (prompt: string) =>
        0.3 +
        (prompt.includes("Search first.") ? 0.3 : 0) +
        (prompt.includes("Name the source.") ? 0.2 : 0) -
        (prompt.includes("verse") ? 0.2 : 0)
      const agent = {
        ask: (prompt: string) => Effect.sync(() => Number(stream.next() < worth(prompt))),
        revise: (prompt: string, failed: ReadonlyArray<string>) =>
          Effect.sync(() => {
            shown.push(failed)
            return `${prompt} ${revisions[shown.length - 1] ?? "Think."}`
          })
      }
      const ids = Array.from({ length: 20 }, (_, place) => `q${place}`)
      const found = (yield* loop(agent, "Answer.", ids)) ?? ""
      assert.include(found, "Search first.")
      assert.notInclude(found, "verse")
      for (const failed of shown) {
        assert.isNotEmpty(failed)
        assert.includeMembers(ids, [...failed])
      }
    }).pipe(Effect.provide(layer))
  )
})
