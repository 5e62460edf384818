import { assert, describe, it } from "@effect/vitest"
import { Array as Arr } from "effect"
import { Population } from "@inspo/population"
import { both, other, every, golden, small } from "../support/Golden.ts"
import { play } from "../support/Trace.ts"

const eight = (rewards: Arr.NonEmptyReadonlyArray<number>) => Arr.replicate(rewards, 8)

describe("values and probabilities", () => {
  golden(
    4,
    "before n steps were seen, divide by n, or by the steps seen",
    { rewards: every(3, { i0: [[1]], i1: [[0]] }) },
    {
      // w_0 = t/5, so p is 2^(t - 1) : 1 in step t.
      paper: [
        { p: { i0: 1 / 2, i1: 1 / 2 }, w: { i0: 0.2, i1: 0 } },
        { p: { i0: 2 / 3, i1: 1 / 3 }, w: { i0: 0.4, i1: 0 } },
        { p: { i0: 4 / 5, i1: 1 / 5 }, w: { i0: 0.6, i1: 0 } }
      ],
      // w_0 = t/t, so p is 2^5 : 1 from step 2 on.
      other: [
        { p: { i0: 1 / 2, i1: 1 / 2 }, w: { i0: 1, i1: 0 } },
        { p: { i0: 32 / 33, i1: 1 / 33 }, w: { i0: 1, i1: 0 } },
        { p: { i0: 32 / 33, i1: 1 / 33 }, w: { i0: 1, i1: 0 } }
      ]
    }
  )

  golden(
    5,
    "r̄ of a step is the mean over all trajectories",
    // 1/4 over trajectories, where the mean over groups would be 1/2.
    { change: { population: { size: 1 } }, rewards: [{ i0: [[1], [0, 0, 0]] }] },
    { paper: [{ w: { i0: 1 / 4 / 5 } }], other: [{ w: { i0: 1 / 4 } }] }
  )

  for (const [reading, preset] of both)
    it(`row 5: the counts behind r̄ are kept (${reading})`, () => {
      const { state } = play(small(preset, {}), { rewards: [{ i0: [[1], [0, 0, 0]] }] })
      // Group means 1 and 0.
      assert.deepInclude(state.population.members[0]?.lifetime, {
        groups: 2,
        trajectories: 4,
        rewardSum: 1,
        bounds: { groups: 2, low: 1 / 2 + 1, high: 1 / 2 + 1 }
      })
    })

  golden(
    6,
    "a step without a draw: the window counts draws, or steps",
    {
      change: { selection: { window: 2 } },
      rewards: [{ i0: [[1]], i1: [[0]] }, { i1: [[0]] }, { i0: [[0.5]], i1: [[0]] }, { i1: [[0]] }, { i1: [[0]] }]
    },
    {
      // The last two draws over 2: 1/2, 1/2, (1 + .5)/2, …
      paper: [
        { w: { i0: 0.5, i1: 0 } },
        { w: { i0: 0.5, i1: 0 } },
        { w: { i0: 0.75, i1: 0 } },
        { w: { i0: 0.75, i1: 0 } },
        { w: { i0: 0.75, i1: 0 } }
      ],
      // Steps 1; 1-2; 2-3; 3-4; 4-5, which holds nothing, so the last value stays.
      other: [
        { w: { i0: 1, i1: 0 } },
        { w: { i0: 1, i1: 0 } },
        { w: { i0: 0.5, i1: 0 } },
        { w: { i0: 0.5, i1: 0 } },
        { w: { i0: 0.5, i1: 0 } }
      ]
    }
  )

  for (const [reading, preset] of both)
    it(`row 6: a value that outlived its window is marked stale, where windows count steps (${reading})`, () => {
      const script = { rewards: [{ i0: [[1]] }, { i1: [[0]] }, { i1: [[0]] }] } as const
      const { state } = play(small(preset, { selection: { window: 2 } }), script)
      assert.deepStrictEqual(
        state.population.members.map(({ stale }) => stale),
        [reading === "other", false]
      )
    })

  golden(
    7,
    "a never-sampled instruction has the value 0, or the mean of the known values",
    {
      change: { population: { size: 3 }, selection: { window: 1 } },
      rewards: [{ i0: [[0.8]], i1: [[0.4]] }, { i0: [[0.8]] }]
    },
    {
      // 2^4 : 2^2 : 2^0.
      paper: [{ w: { i0: 0.8, i1: 0.4, i2: 0 } }, { p: { i0: 16 / 21, i1: 4 / 21, i2: 1 / 21 } }],
      // (.8 + .4) / 2 = .6, so 2^4 : 2^2 : 2^3.
      other: [{ w: { i0: 0.8, i1: 0.4, i2: 0.6 } }, { p: { i0: 4 / 7, i1: 1 / 7, i2: 2 / 7 } }]
    }
  )

  golden(
    8,
    "evolution resets W, parents included, and verification does not seed it",
    {
      change: { population: { size: 3 }, schedule: { evolveEvery: 2 }, selection: { rounds: 1 } },
      rewards: [
        { i0: [[1, 0]], i1: [[0]], i2: [[0]] },
        { i0: [[1, 0]], i1: [[0]], i2: [[0]] },
        { i0: [[1]], i3: [[0]], i4: [[0]] }
      ],
      proposals: [["A", "B"]],
      scores: { A: 1, B: 0.75, parent: 0.5 }
    },
    {
      // (.5 + .5) / 5, then 1/5 anew.
      paper: [
        {},
        { w: { i0: 0.2, i1: 0, i2: 0 }, alive: "i0 i3 i4" },
        { p: { i0: 1 / 3, i3: 1 / 3, i4: 1 / 3 }, w: { i0: 0.2, i3: 0, i4: 0 } }
      ],
      other: [
        {},
        { w: { i0: 0.5, i1: 0, i2: 0 }, alive: "i0 i3 i4" },
        { p: { i0: 1 / 3, i3: 1 / 3, i4: 1 / 3 }, w: { i0: 1, i3: 0, i4: 0 } }
      ]
    }
  )

  for (const [reading, preset] of both)
    it(`row 8: lifetime records outlive the reset (${reading})`, () => {
      const { state } = play(small(preset, { schedule: { evolveEvery: 2 }, selection: { rounds: 1 } }), {
        rewards: [{ i0: [[1, 0]], i1: [[0]] }, { i0: [[1, 0]], i1: [[0]] }, { i0: [[1]] }]
      })
      const [parent] = state.population.members
      // (1 + 0) twice, then 1.
      assert.deepInclude(parent?.lifetime, { groups: 3, trajectories: 5, rewardSum: 3 })
      assert.strictEqual(parent?.window.length, 1)
    })

  for (const [reading, preset] of both)
    for (const [score, name, best] of [
      [0.75, "a better candidate", "i3"],
      [0.5, "an equal candidate", "i0"]
    ] as const)
      it(`row 9: I* right after a reset, with ${name} (${reading})`, () => {
        const trace = play(
          small(preset, {
            population: { size: 3 },
            schedule: { steps: 2, evolveEvery: 2 },
            selection: { rounds: 1, instruction: "best" }
          }),
          {
            // i0 has .5 over its lifetime.
            rewards: every(2, { i0: [[1, 0]], i1: [[0]], i2: [[0]] }),
            proposals: [["A", "B"]],
            scores: { A: score, B: 0.25, parent: 0 }
          }
        )
        // By the letter all have the value 0, and the first is the parent.
        assert.strictEqual(trace.best, reading === "paper" ? "i0" : best)
      })

  for (const [reading, preset] of both)
    it.each([
      // i0 has .5 over its lifetime and 0 in the last step, i1 .125 and .25.
      [
        "of highest value, where its lifetime is worse",
        [
          { i0: [[1]], i1: [[0]] },
          { i0: [[0]], i1: [[0.25]] }
        ],
        "i1",
        "i0"
      ],
      [
        "of highest value, where its lifetime is as good",
        [
          { i0: [[1]], i1: [[0]] },
          { i0: [[0]], i1: [[1]] }
        ],
        "i1",
        "i0"
      ],
      ["that is better within steps, in eight groups of each", every(2, { i0: eight([0]), i1: eight([1]) }), "i1", "i1"]
    ] as const)(`row 29: the instruction %s (${reading})`, (_, rewards, paper, other) => {
      const trace = play(small(preset, { population: { size: 2 }, selection: { window: 1 }, schedule: { steps: 2 } }), {
        rewards
      })
      assert.strictEqual(trace.best, reading === "paper" ? paper : other)
    })

  it("row 29: the instruction that was better than a seed that left", () => {
    const change = { population: { size: 2 }, selection: { window: 1 }, schedule: { steps: 2, pruneEvery: 2 } }
    const trace = play(small(other, change), {
      rewards: every(2, { i0: eight([0]), i1: eight([1]) })
    })
    assert.deepStrictEqual([trace.steps.at(-1)?.did, trace.best], [["prune i0"], "i1"])
  })

  for (const [reading, preset] of both)
    it.each([0, 0.1, 1])(`row 29: the seed, where all rewards are %d (${reading})`, (reward) => {
      const trace = play(
        small(preset, {
          population: { size: 3 },
          schedule: { steps: 4, pruneEvery: 1, evolveEvery: 2, evolveUntil: 2 },
          selection: { rounds: 1 }
        }),
        {
          // The seed is drawn least, and leaves first.
          rewards: every(4, {
            i0: [[reward]],
            i1: [[reward], [reward]],
            i2: [[reward], [reward], [reward]],
            i3: [[reward]]
          }),
          proposals: [["A", "B"]],
          scores: { A: reward, B: reward, parent: reward }
        }
      )
      if (reading === "other") assert.strictEqual(trace.best, "i0")
      if (reading === "other") assert.notInclude(Population.ids(trace.state.population).join(" "), "i0")
    })
})
