import { assert, describe, it } from "@effect/vitest"
import { both, every, golden, same } from "../support/Golden.ts"
import { play } from "../support/Trace.ts"

describe("pruning", () => {
  golden(
    1,
    "where K_p and K_e both divide t, prune, then evolve",
    {
      change: { population: { size: 4 }, schedule: { pruneEvery: 2, evolveEvery: 2 } },
      rewards: every(2, { i0: [[1, 0]], i1: [[0]], i2: [[0]], i3: [[0]] }),
      proposals: [["A", "B", "C"]],
      scores: { A: 0.5, B: 0.75, C: 1, parent: 0.5 }
    },
    same([
      { did: [], alive: "i0 i1 i2 i3" },
      // i0 has .5 a step, the others 0. i0 meets q0 alone, so q1, q2 and q3 are left to verify on.
      { did: ["prune i3 i2", "propose for i0", "verify 3 on 3", "enter C B A"], alive: "i0 i4 i5 i6" }
    ])
  )

  golden(
    2,
    "the bottom half of the present population leaves: 7, 4, 2, 1",
    {
      change: { population: { size: 7 }, schedule: { pruneEvery: 2 } },
      rewards: every(8, { i0: [[0]], i1: [[0.25]], i2: [[0.5]], i3: [[0.75]], i4: [[1]], i5: [[0.25]], i6: [[0]] })
    },
    same([
      { alive: "i0 i1 i2 i3 i4 i5 i6" },
      // ⌊7/2⌋ = 3 of i4 i3 i2 i1 i5 i0 i6.
      { did: ["prune i6 i0 i5"], alive: "i1 i2 i3 i4" },
      { did: [] },
      // ⌊4/2⌋ = 2 of i4 i3 i2 i1.
      { did: ["prune i1 i2"], alive: "i3 i4" },
      { did: [] },
      { did: ["prune i3"], alive: "i4" },
      { did: [] },
      { did: [], alive: "i4" }
    ])
  )

  golden(
    2,
    "never below N_parent: 5, 3, 2",
    {
      change: { population: { size: 5, parents: 2 }, schedule: { pruneEvery: 2 } },
      rewards: every(6, { i0: [[1]], i1: [[0.75]], i2: [[0.5]], i3: [[0.25]], i4: [[0]] })
    },
    same([
      {},
      { did: ["prune i4 i3"] },
      {},
      // ⌊3/2⌋ = 1.
      { did: ["prune i2"], alive: "i0 i1" },
      {},
      { did: [], alive: "i0 i1" }
    ])
  )

  golden(
    3,
    "rank by W before this step's rewards, or after them",
    {
      change: { schedule: { pruneEvery: 2 } },
      rewards: [
        { i0: [[0.5]], i1: [[0]] },
        { i0: [[0]], i1: [[1]] }
      ]
    },
    {
      // W_1 = (.1, 0): i1 leaves, though it leads by now.
      paper: [{ w: { i0: 0.1, i1: 0 } }, { w: { i0: 0.1, i1: 0.2 }, did: ["prune i1"] }],
      // W_2 = (.25, .5): i0 leaves.
      other: [{ w: { i0: 0.5, i1: 0 } }, { w: { i0: 0.25, i1: 0.5 }, did: ["prune i0"] }]
    }
  )

  for (const [reading, preset] of both)
    it(`row 11: pruning goes on after the last evolution, until one is left (${reading})`, () => {
      // The preset's own schedule. Only i0 is ever sampled, so it is the parent of all.
      const { steps } = play(
        {
          ...preset,
          selection: { ...preset.selection, removal: "bottom-half" },
          verification: { ...preset.verification, samples: 200 },
          evaluation: { ...preset.evaluation, questions: 0, every: 0, select: "last" }
        },
        { rewards: every(300, { i0: [[1, 0], [1]] }) }
      )
      const sizeAfter = (step: number) => steps[step - 1]?.alive.split(" ").length
      const sizes = [5, 10, 14, 15, 20, 25, 30].map(sizeAfter)
      // At 15, 30, …: 2 → 1 by pruning, then 1 + 6 by evolving.
      assert.deepStrictEqual(sizes, [4, 2, 2, 7, 4, 2, 7])
      const afterTheLast = [135, 140, 145, 150, 155, 160, 165, 300].map(sizeAfter)
      // Row 10 decides whether step 150 still evolves.
      assert.deepStrictEqual(afterTheLast, reading === "paper" ? [7, 4, 2, 1, 1, 1, 1, 1] : [7, 4, 2, 7, 4, 2, 1, 1])
    })

  golden(
    19,
    "ties: the order of the population, or more samples first",
    {
      change: { schedule: { pruneEvery: 2 } },
      rewards: [
        { i0: [[1]], i1: [[1], [1]] },
        { i0: [[1]], i1: [[1]] }
      ]
    },
    {
      paper: [{}, { w: { i0: 0.4, i1: 0.4 }, did: ["prune i1"] }],
      // 2 groups against 3.
      other: [{}, { w: { i0: 1, i1: 1 }, did: ["prune i0"] }]
    }
  )

  golden(
    19,
    "ties of equally sampled instructions: the older first",
    { change: { schedule: { pruneEvery: 2 } }, rewards: every(2, { i1: [[1]], i0: [[1]] }) },
    same([{}, { did: ["prune i1"] }])
  )
})
