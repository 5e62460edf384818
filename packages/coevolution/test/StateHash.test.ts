import { assert, describe, it } from "@effect/vitest"
import { type RunState, StateHash } from "@inspo/coevolution"
import { layerMemory } from "@inspo/journal/sqlite"
import { SearchError } from "@inspo/retrieval"
import { Effect, Equal, Struct } from "effect"
import { algorithm, type Replaced, runOn, sharing } from "./support/ScriptedRun.ts"

/** Every state of some runs that between them change each part of a state, the oldest first. */
const states = Effect.gen(function* () {
  const seen: Array<RunState.RunState> = []
  const see = (settings: typeof algorithm, replaced?: Replaced) =>
    runOn(settings, layerMemory, (_, state) => Effect.sync(() => seen.push(state)), replaced)
  const validating = { ...sharing.evaluation, every: 2 }
  yield* see({ ...sharing, evaluation: validating })
  yield* see({ ...algorithm, replay: { successes: 2 } })
  let calls = 0
  yield* see(algorithm, {
    maxFailedShare: 1,
    meddle: ({ search }) => ({
      search: (queries, topK) =>
        ++calls % 2 === 0
          ? Effect.fail(new SearchError({ operation: "search", reason: "it is down" }))
          : search(queries, topK)
    })
  })
  return seen
})

describe("the hash of a state", () => {
  it.effect("does not depend on the order of keys or on where checkpoints lie, and on every part of it", () =>
    Effect.gen(function* () {
      const all = yield* states
      const last = all.at(-1)
      if (last === undefined) return assert.fail("no state was seen")
      const hash = yield* StateHash.of(last)
      const reordered = Object.fromEntries(Object.entries(last).toReversed())
      assert.strictEqual(yield* StateHash.of({ ...last, ...reordered }), hash)
      const moved = last.checkpoints.map(({ checkpoint, step }) => ({ step, checkpoint: { ...checkpoint, uri: "/" } }))
      assert.strictEqual(yield* StateHash.of({ ...last, checkpoints: moved }), hash)
      for (const part of Struct.keys(last)) {
        const other = all.find((state) => !Equal.equals(state[part], last[part]))
        if (other === undefined) return assert.fail(`the runs leave ${part} as it is`)
        assert.isTrue(StateHash.differ(hash, yield* StateHash.of({ ...last, [part]: other[part] })), part)
      }
    })
  )

  it.effect("tells a state that an event has changed from the one before", () =>
    Effect.gen(function* () {
      const all = yield* states
      const hashes = yield* Effect.forEach(all, StateHash.of)
      for (const [index, state] of all.entries()) {
        const before = all[index - 1]
        if (before !== undefined && !Equal.equals(before, state))
          assert.notStrictEqual(hashes[index], hashes[index - 1], `event ${index}`)
      }
    })
  )

  it("is compared within one version only", () => {
    assert.isTrue(StateHash.differ("1:a", "1:b"))
    assert.isFalse(StateHash.differ("1:a", "1:a"))
    assert.isFalse(StateHash.differ("1:a", "2:b"))
  })
})
