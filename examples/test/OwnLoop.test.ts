import { assert, describe, it } from "@effect/vitest"
import { RandomStream } from "@inspo/domain"
import { Effect, Schema } from "effect"
import { readFileSync } from "node:fs"
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
  const Wrong = Schema.Finite.check(Schema.makeFilter((score) => score < 0 || score > 1))

  it.effect.prop("fails where a score is not in [0, 1] or a text is empty, without a defect", [Wrong], ([score]) =>
    Effect.gen(function* () {
      const agent = { ask: () => Effect.succeed(score), revise: () => Effect.succeed("Think.") }
      assert.strictEqual((yield* Effect.flip(loop(agent, "Answer.", ["q1"])))._tag, "InvalidInput")
      assert.strictEqual((yield* Effect.flip(loop(agent, "", ["q1"])))._tag, "InvalidInput")
      const mute = { ask: () => Effect.succeed(0.5), revise: () => Effect.succeed("") }
      assert.strictEqual((yield* Effect.flip(loop(mute, "Answer.", ["q1", "q2"]))).field, "text")
    }).pipe(Effect.provide(layer))
  )

  it.effect("adds no revision that is worse", () =>
    Effect.gen(function* () {
      const asked = new Map<string, number>()
      const agent = {
        ask: (prompt: string) =>
          Effect.sync(() => {
            asked.set(prompt, (asked.get(prompt) ?? 0) + 1)
            return prompt === "Answer." ? 0.75 : 0.25
          }),
        revise: () => Effect.succeed("Answer in verse.")
      }
      assert.strictEqual(
        yield* loop(
          agent,
          "Answer.",
          Array.from({ length: 20 }, (_, n) => `q${n}`)
        ),
        "Answer."
      )
      // Ten questions at each of six verifications, and none after.
      assert.strictEqual(asked.get("Answer in verse."), 60)
    }).pipe(Effect.provide(layer))
  )

  it("is what the README shows, in fewer than 53 lines", () => {
    const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")
    const program = read("examples/own-loop/OwnLoop.ts").trimEnd()
    assert.include(read("packages/population/README.md"), program)
    assert.isBelow(program.split("\n").length, 53)
  })
})
