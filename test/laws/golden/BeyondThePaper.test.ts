import { assert, describe, it } from "@effect/vitest"
import { Presets, RunState } from "@inspo/coevolution"
import { type Change, every, small } from "../support/Golden.ts"
import { play, type Script } from "../support/Trace.ts"

/** What the robust preset decides after each step, with one option changed. */
const decided = (script: Script & { readonly change: Change }) => {
  const { state, steps } = play(small(Presets.robust, script.change), script)
  return { did: steps.map(({ did }) => did), alive: steps.map(({ alive }) => alive), state }
}

describe("beyond the paper", () => {
  it("verification.stop: who loses every question leaves after four of seven, who ties stays to the end", () => {
    const { did } = decided({
      change: {
        schedule: { evolveEvery: 1 },
        verification: { samples: 7, rounds: 1, stop: 0.05, lookEvery: 2 }
      },
      // The first question is reflected on, the other seven are for verification.
      rewards: [{ i0: [[0], ...every(7, [1] as const)] }],
      proposals: [["A", "B"]],
      scores: { A: 0, B: 1, parent: 1 }
    })
    // After four questions S = -4 reaches b = √(7 · 1 · ln 20 / 2) = 3.2.
    assert.deepStrictEqual(did, [
      ["propose for i0", "verify 2 on 2", "verify 2 on 2", "verify 1 on 2", "verify 1 on 1", "enter B"]
    ])
  })

  it("verification.stop: once a better one has the only place, the others leave with it", () => {
    const { did } = decided({
      change: {
        schedule: { evolveEvery: 1 },
        verification: { samples: 7, rounds: 1, stop: 0.05, lookEvery: 2 }
      },
      rewards: [{ i0: [[0], ...every(7, [1] as const)] }],
      proposals: [["A", "B"]],
      scores: { A: 1, B: 0, parent: 0 }
    })
    assert.deepStrictEqual(did, [["propose for i0", "verify 2 on 2", "verify 2 on 2", "enter A"]])
  })

  it("verification.reuse: candidates meet their parent in the groups of the next step, and enter after it", () => {
    const { alive, did, state } = decided({
      change: {
        schedule: { evolveEvery: 1, evolveUntil: 1 },
        verification: { samples: 2, rounds: 1, reuse: true }
      },
      rewards: [{ i0: [[0], [1]] }, {}, { i0: [[1]] }],
      proposals: [["A"]],
      scores: { A: 0.75, parent: 0.5 }
    })
    // Of four groups two are A's and two are the parent's.
    assert.deepStrictEqual(did, [["propose for i0"], ["verify 1 on 2", "enter A"], []])
    assert.deepStrictEqual(alive, ["i0 i1", "i0 i2", "i0 i2"])
    assert.strictEqual(state.spent.rollouts.verification, 0)
    assert.strictEqual(RunState.instruction(state, RunState.instructionId(2)).bornAt, 2)
  })

  it("verification.reuse: a candidate whose trial the run's end cuts short does not enter, however well it did", () => {
    const { alive, did } = decided({
      change: {
        schedule: { steps: 3, evolveEvery: 2, evolveUntil: 2 },
        verification: { samples: 3, rounds: 1, reuse: true }
      },
      rewards: [{ i0: [[0], [1]] }, { i0: [[0], [1]] }, {}],
      proposals: [["A"]],
      scores: { A: 1, parent: 0.5 }
    })
    // Of four groups two are A's and two are the parent's, so that one of three questions is left.
    assert.deepStrictEqual(did, [[], ["propose for i0"], ["verify 1 on 2", "enter", "1 short"]])
    assert.deepStrictEqual(alive, ["i0 i1", "i0 i1", "i0"])
  })
})
