import { assert, describe, it } from "@effect/vitest"
import { apply, next, RunState, Strategies } from "@inspo/coevolution"
import { Question, Trajectory } from "@inspo/domain"
import { CandidateLint } from "@inspo/reflection"
import { ReplayBuffer } from "@inspo/replay-buffer"
import { both, every, golden, same, small } from "../support/Golden.ts"
import { play } from "../support/Trace.ts"

describe("evolution", () => {
  golden(
    10,
    "the last evolution is at schedule.evolveUntil",
    {
      change: { schedule: { evolveEvery: 2, evolveUntil: 4 }, selection: { rounds: 1 } },
      rewards: every(6, { i0: [[1, 0], [1]] }),
      proposals: [["A"], ["B"]]
    },
    same([{}, { alive: "i0 i2" }, {}, { alive: "i0 i3" }, {}, { did: [] }])
  )

  golden(
    12,
    "rounds go on while places are left, then the best rejected fill them, or nobody does",
    {
      change: {
        population: { size: 4 },
        schedule: { evolveEvery: 1 },
        selection: { rounds: 3 },
        verification: { samples: 4 }
      },
      // i0 has .5 on every question; q3 is the one without a failure.
      rewards: [
        {
          i0: [
            [1, 0],
            [1, 0],
            [1, 0],
            [0.5, 0.5]
          ]
        }
      ],
      proposals: [
        ["A", "B"],
        ["C", "D"],
        ["E", "F"]
      ],
      scores: { A: 0.75, B: 0.25, C: 0.5, D: 0, E: 0.375, F: 0.375, parent: 0.5 }
    },
    {
      // A and C are not worse than .5; of B, D, E, F the first of the best fills the last place.
      paper: [
        {
          did: [...every(3, ["propose for i0", "verify 2 on 4"]).flat(), "enter A C E"],
          alive: "i0 i4 i5 i6"
        }
      ],
      other: [
        {
          did: [...every(3, ["propose for i0", "verify 2 on 1"]).flat(), "enter A C", "1 short"],
          alive: "i0 i4 i5"
        }
      ]
    }
  )

  golden(
    12,
    "one round is enough when all places are taken",
    {
      change: { schedule: { evolveEvery: 1 } },
      rewards: [{ i0: [[0], [1]] }],
      proposals: [["A", "B"], ["C"]],
      scores: { A: 0.5, B: 1, parent: 0.5 }
    },
    // The better of the two. On record i0 has 0 on q0 and 1 on q1, the mean of which B reaches.
    {
      paper: [{ did: ["propose for i0", "verify 2 on 2", "enter B"], alive: "i0 i2" }],
      other: [{ did: ["propose for i0", "verify 2 on 1", "enter B"], alive: "i0 i2" }]
    }
  )

  for (const [reading, preset] of both)
    it(`row 12: what verification costs (${reading})`, () => {
      const { rollouts } = Strategies.ofAlgorithm(preset).verification.plan({
        candidates: preset.proposer.candidates,
        questions: preset.verification.samples
      })
      // 6 × 200, and 200 more where the parent is run again.
      assert.strictEqual(rollouts, reading === "paper" ? 1200 : 1400)
      if (reading === "paper") assert.deepStrictEqual([9 * rollouts, 9 * 5 * rollouts], [10_800, 54_000])
      assert.strictEqual(preset.selection.rounds, 5)
    })

  for (const [name, score, again, enters] of [
    // .5 on record.
    ["a parent that does better by now", 0.6, 0.8, { paper: ["enter A"], other: ["enter", "1 short"] }],
    ["a parent that does worse by now", 0.4, 0.3, { paper: ["enter", "1 short"], other: ["enter A"] }]
  ] as const)
    golden(
      13,
      `${name} is compared as it was, or as it is`,
      {
        change: { schedule: { evolveEvery: 1 }, selection: { rounds: 1, fill: false } },
        rewards: [{ i0: [[1, 0], [0.5]] }],
        proposals: [["A"]],
        scores: { A: score, parent: again }
      },
      {
        paper: [{ did: ["propose for i0", "verify 1 on 2", ...enters.paper] }],
        other: [{ did: ["propose for i0", "verify 1 on 1", ...enters.other] }]
      }
    )

  for (const [reading, preset] of both)
    it(`row 13: D_B is drawn from the buffer, or holds fresh questions (${reading})`, () => {
      const strategy = Strategies.ofAlgorithm(preset).buffer
      let buffer = ReplayBuffer.empty
      for (const [step, questions] of [[], ["q0"], ["q1", "q2"]].entries())
        buffer = ReplayBuffer.add(
          preset.selection,
          buffer,
          step,
          questions.map((question) => experience(step, question))
        )
      const asked = strategy.verificationQuestions(buffer, {
        samples: 40,
        exclude: [Question.QuestionId.make("q2")],
        seed: 1,
        path: ["verification"]
      })
      if (reading === "paper") {
        // The buffer holds the latest step alone. Reflected failures count.
        assert.deepStrictEqual<ReadonlyArray<string>>(asked.toSorted(), ["q1", "q2"])
      } else assert.deepStrictEqual<ReadonlyArray<string>>(asked, ["q1", "q0"])
    })

  golden(
    14,
    "failures of anyone in the latest step, or the parent's own, even older ones",
    {
      change: { schedule: { evolveEvery: 2 } },
      rewards: [
        { i0: [[1, 0]], i1: [[0]] },
        { i0: [[1], [1]], i1: [[0]] }
      ],
      proposals: [["A"]],
      scores: { parent: 0 }
    },
    {
      paper: [{}, { shown: ["train/2/2/0"], alive: "i0 i2" }],
      other: [{}, { shown: ["train/1/0/1"], alive: "i0 i2" }]
    }
  )

  golden(
    14,
    "a parent that never fails reads the failures of others, or does not evolve",
    {
      change: { schedule: { evolveEvery: 1 } },
      rewards: [{ i0: [[1]], i1: [[0]] }],
      proposals: [["A"]]
    },
    {
      paper: [{ shown: ["train/1/1/0"], alive: "i0 i2" }],
      other: [{ did: ["skip"], alive: "i0 i1" }]
    }
  )

  for (const [reading, preset] of both)
    it(`row 15: the buffer holds one step, or a ring of steps with a cap per question (${reading})`, () => {
      const change = reading === "paper" ? {} : { capacitySteps: 2, perQuestionCap: 3 }
      const { state } = play(small(preset, { selection: change }), { rewards: every(3, { i0: [[0, 1]] }) })
      assert.deepStrictEqual<ReadonlyArray<string>>(
        state.buffer.experiences.map(({ trajectoryId }) => trajectoryId),
        // Steps 2 and 3 hold four of q0: the older one with the reward 1 has to go.
        reading === "paper" ? ["train/3/0/0", "train/3/0/1"] : ["train/2/0/0", "train/3/0/0", "train/3/0/1"]
      )
      assert.strictEqual(state.buffer.experiences[0]?.step, reading === "paper" ? 3 : 2)
    })

  for (const [reading, preset] of both)
    it(`row 21: what parses is accepted, or what can run (${reading})`, () => {
      const seed = "Put a query between <search> and </search>."
      const texts = {
        good: `Think first. ${seed}`,
        lost: "Just answer.",
        unbalanced: "Put a query after <search>.",
        repeated: `Think  first. ${seed}`,
        known: seed,
        long: `${"word ".repeat(CandidateLint.maxWordsOf(seed))}${seed}`,
        empty: " "
      }
      const candidates = Object.values(texts).map((text) => ({ text, rationale: "" }))
      const { accepted, rejected } = CandidateLint.lint(
        candidates,
        preset.selection.lint === "parsed" ? undefined : { seed, known: [seed] }
      )
      const names = Object.entries(texts)
      const nameOf = (text: string) => names.find(([, known]) => known === text)?.[0]
      const isPaper = reading === "paper"
      assert.deepStrictEqual(
        accepted.map(({ text }) => nameOf(text)),
        isPaper ? ["good", "lost", "unbalanced", "repeated", "known", "long"] : ["good"]
      )
      assert.deepStrictEqual(
        rejected.map(({ reason, text }) => [nameOf(text), reason]),
        isPaper
          ? [["empty", "empty"]]
          : [
              ["lost", "tags-lost"],
              ["unbalanced", "tags-unbalanced"],
              ["repeated", "duplicate"],
              ["known", "duplicate"],
              ["long", "too-long"],
              ["empty", "empty"]
            ]
      )
    })

  golden(
    21,
    "when nothing usable comes back, try again, then train on",
    {
      change: { schedule: { evolveEvery: 1, evolveUntil: 2 }, selection: { rounds: 2 } },
      rewards: [{ i0: [[1, 0]] }, { i0: [[1]] }],
      proposals: [[], []]
    },
    {
      paper: [
        { did: ["propose for i0", "propose for i0", "enter", "1 short"], alive: "i0" },
        { p: { i0: 1 }, alive: "i0" }
      ],
      other: [
        { did: ["propose for i0", "propose for i0", "enter", "1 short"], alive: "i0" },
        { p: { i0: 1 }, alive: "i0" }
      ]
    }
  )

  for (const [reading, preset] of both)
    it(`row 23: the first population is the seeds and one proposal for the rest (${reading})`, () => {
      const first = (variants: ReadonlyArray<string>) => {
        const algorithm = { ...preset, seedInstruction: "the seed", variants }
        const setting = { ...Strategies.deciding(algorithm), questions: [] }
        const started = {
          _tag: "RunStarted",
          algorithm,
          strategies: Strategies.identities(setting.strategies),
          engine: "",
          tokenizer: "",
          data: "",
          search: "passages",
          code: ""
        } as const
        const state = apply(setting, RunState.unstarted, started)
        return RunState.isRunning(state) ? next(setting, state) : null
      }
      assert.deepStrictEqual<unknown>(first([]), { _tag: "Initialise", seeds: ["the seed"], size: 7 })
      assert.deepStrictEqual<unknown>(first(["another"]), {
        _tag: "Initialise",
        seeds: ["the seed", "another"],
        size: 7
      })
    })

  golden(
    28,
    "parents are the best by W before this step's rewards, or after them",
    {
      change: { schedule: { evolveEvery: 2 }, selection: { rounds: 1 } },
      rewards: [
        { i0: [[0.5]], i1: [[0]] },
        { i0: [[0]], i1: [[1]] }
      ],
      proposals: [[]]
    },
    // Row 3: W_1 = (.1, 0), W_2 = (.25, .5).
    {
      paper: [{}, { did: ["propose for i0", "enter", "1 short"], alive: "i0" }],
      other: [{}, { did: ["propose for i1", "enter", "1 short"], alive: "i1" }]
    }
  )
})

describe("the parent of a round", () => {
  for (const [reading, preset] of both)
    it(`row 30: is any of the parents, or each in turn, best first (${reading})`, () => {
      const shown = every(300, null).map((_, seed) => {
        const change = {
          population: { size: 4, parents: 3 },
          schedule: { evolveEvery: 1, evolveUntil: 1 },
          selection: { rounds: 3, failures: "any" as const }
        }
        const rewards = [{ i0: [[0.4]], i1: [[0.3]], i2: [[0.2]], i3: [[0]] }] as const
        const { steps } = play({ ...small(preset, change), randomSeed: seed }, { rewards, proposals: [[], [], []] })
        return (steps[0]?.did ?? []).filter((did) => did.startsWith("propose"))
      })
      const first = new Set(shown.map(([did]) => did))
      const rounds = new Set(shown.map((dids) => dids.join()))
      assert.deepStrictEqual([first.size, rounds.size], reading === "paper" ? [3, 27] : [1, 1])
    })
})

const experience = (step: number, question: string) => ({
  trajectoryId: Trajectory.TrajectoryId.make(`train/${step}/${question}`),
  instructionId: RunState.instructionId(0),
  questionId: Question.QuestionId.make(question),
  dataSource: "nq",
  step,
  reward: 0
})
