import { assert, describe, it } from "@effect/vitest"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Effect } from "effect"
import * as Loading from "../src/store/Loading.ts"
import { version } from "../src/store/internal/Stored.ts"

const event = { _tag: "Frozen", isFrozen: true }

describe("the log of a population", () => {
  it.effect.each([
    [{ at: 1, event }, "missing"],
    [{ version: version + 1, at: 1, event }, String(version + 1)]
  ] as const)("of another version is refused with the remedy: %j", ([payload, found]) =>
    Effect.gen(function* () {
      const journal = yield* Journal
      yield* journal.append([{ type: "Frozen", step: 0, payload: { version, at: 1, event } }])
      assert.deepStrictEqual(yield* Loading.events(journal), [
        { version, at: 1, event: { _tag: "Frozen", isFrozen: true } }
      ])
      yield* journal.append([{ type: "Frozen", step: 0, payload }])
      const refused = yield* Effect.flip(Loading.events(journal))
      assert.strictEqual(refused.reason, "other-version")
      assert.include(
        refused.message,
        `event 1: Frozen.version is ${found}, expected ${version}. Start again with this version of inspo, or use the version ` +
          "that wrote the journal"
      )
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )
})
