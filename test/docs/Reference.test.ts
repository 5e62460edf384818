import { readdir, readFile } from "node:fs/promises"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { pages } from "../../tools/docs/pages.ts"

const directory = new URL("../../docs/reference/", import.meta.url)

describe("docs/reference", () => {
  it.effect("says what the code says", () =>
    Effect.gen(function* () {
      const made = yield* pages
      assert.sameMembers(yield* Effect.promise(() => readdir(directory)), Object.keys(made))
      for (const [name, text] of Object.entries(made))
        assert.strictEqual(
          yield* Effect.promise(() => readFile(new URL(name, directory), "utf8")),
          text,
          `docs/reference/${name} is out of date; renew it with: node tools/docs/main.ts`
        )
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("leaves nothing unexplained", () =>
    Effect.gen(function* () {
      for (const [name, text] of Object.entries(yield* pages)) {
        assert.notInclude(text, "undefined", name)
        // The last column of the metrics is verl's name, where it has one.
        if (name !== "metrics.md") assert.notMatch(text, /\|\s*\|\s*$/mu, name)
      }
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
