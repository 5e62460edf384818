import { assert, describe, it } from "@effect/vitest"
import { Presets } from "@inspo/coevolution"
import { type Change, every, small } from "../support/Golden.ts"
import { play, type Script } from "../support/Trace.ts"

/** What the robust preset decides after each step, on questions that all instructions share. */
const decided = (script: Script & { readonly change: Change }) => {
  const { steps } = play(small(Presets.robust, { verification: { samples: 0 }, ...script.change }), {
    ...script,
    shared: true
  })
  return { did: steps.map(({ did }) => did), alive: steps.map(({ alive }) => alive), p: steps.map(({ p }) => p) }
}

describe("selection.removal: evidence", () => {
  it("removes who loses every question after ten of them, and not after eight", () => {
    const { did } = decided({
      change: { schedule: { pruneEvery: 1 } },
      rewards: every(5, { i0: [[1], [1]], i1: [[0], [0]] })
    })
    // The mean of (1 + λ)^n over λ = .02 .05 .1 .2 .4 .8 reaches 2 / .05 = 40 with n = 10, where it is 66; n = 8 has 23.
    assert.deepStrictEqual(did, [["prune"], ["prune"], ["prune"], ["prune"], ["prune i1"]])
  })

  it("removes no one without evidence, whatever the values are", () => {
    const { alive } = decided({
      change: { population: { size: 3 }, schedule: { pruneEvery: 1 } },
      // i1 is never asked what the others are.
      rewards: every(8, { i0: [[1]], i2: [[1]] })
    })
    assert.deepStrictEqual(alive, every(8, "i0 i1 i2"))
  })

  it("adds four candidates at first, untried, and half as many after an evolution that led nowhere", () => {
    const { alive, did } = decided({
      change: { population: { size: 6 }, schedule: { evolveEvery: 1, evolveUntil: 3 } },
      rewards: [
        { i0: [[1], [1, 0], [1]] },
        { i0: [[1], [1, 0], [1]], i6: [[0], [0], [0]], i7: [[0], [0], [0]], i8: [[0], [0], [0]], i9: [[0], [0], [0]] },
        { i0: [[1], [1, 0], [1]] },
        {}
      ]
    })
    assert.deepStrictEqual(did.slice(0, 3), [
      ["propose for i0", "enter 1.0 1.1 1.2 1.3"],
      ["propose for i0", "enter 2.0 2.1"],
      ["propose for i0", "enter 3.0"]
    ])
    // The seed i0 is the incumbent; four of six others make room at first.
    assert.deepStrictEqual(
      alive.map((ids) => ids.split(" ").length),
      every(4, 6)
    )
    assert.match(alive[0] ?? "", /^i0 i[1-5] i6 i7 i8 i9$/u)
  })

  it("adds twice as many candidates after one of the last became the incumbent", () => {
    const { did } = decided({
      change: { population: { size: 9 }, schedule: { evolveEvery: 1, evolveUntil: 2 } },
      rewards: [
        { i0: [[0], [0], [0], [0]] },
        { i0: every(16, [0] as const), i10: [[1, 0], ...every(15, [1] as const)] },
        {}
      ]
    })
    // Of nine places the incumbent i10 holds one; the seed is certainly not the best.
    assert.deepStrictEqual(did.slice(0, 2), [
      ["propose for i0", "enter 1.0 1.1 1.2 1.3"],
      ["propose for i10", "enter 2.0 2.1 2.2 2.3 2.4 2.5", "2 short"]
    ])
  })
})

describe("selection.shares: thompson", () => {
  it("gives those who are never the best two per cent each, and the others the rest", () => {
    const { p } = decided({
      change: { population: { size: 3 } },
      rewards: [...every(12, { i0: [[1], [1]], i1: [[0], [0]], i2: [[0], [0]] } as const), {}]
    })
    assert.deepStrictEqual(p.at(-1), { i0: 1.02 / 1.06, i1: 0.02 / 1.06, i2: 0.02 / 1.06 })
  })
})
