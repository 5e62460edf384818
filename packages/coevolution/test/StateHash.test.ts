import { assert, describe, it } from "@effect/vitest"
import { StateHash } from "@inspo/coevolution"
import { Effect } from "effect"
import { config, runOnce } from "./support/ScriptedRun.ts"

describe("the hash of a state", () => {
  it.effect("does not depend on the order of keys or on where checkpoints lie, and on all else", () =>
    Effect.gen(function* () {
      const state = yield* runOnce({ ...config, schedule: { ...config.schedule, steps: 3 } })
      const hash = yield* StateHash.of(state)
      const reordered = Object.fromEntries(Object.entries(state).toReversed())
      assert.strictEqual(yield* StateHash.of({ ...state, ...reordered }), hash)
      const moved = state.checkpoints.map(({ checkpoint, step }) => ({ step, checkpoint: { ...checkpoint, uri: "/" } }))
      assert.strictEqual(yield* StateHash.of({ ...state, checkpoints: moved }), hash)
      for (const other of [
        { ...state, step: 2 },
        { ...state, checkpoints: state.checkpoints.slice(1) },
        { ...state, instructions: state.instructions.toReversed() },
        { ...state, buffer: { experiences: state.buffer.experiences.slice(1) } }
      ])
        assert.isTrue(StateHash.differ(hash, yield* StateHash.of(other)))
    })
  )

  it("is compared within one version only", () => {
    assert.isTrue(StateHash.differ("1:a", "1:b"))
    assert.isFalse(StateHash.differ("1:a", "1:a"))
    assert.isFalse(StateHash.differ("1:a", "2:b"))
  })
})
