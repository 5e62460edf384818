import { assert, describe, it } from "@effect/vitest"
import { type Algorithm, Presets, type RunEvent, Strategies } from "@inspo/coevolution"
import { type Agent, Agents, ToolLoop } from "@inspo/rollout"
import { Plan } from "@inspo/analysis"
import { Question } from "@inspo/domain"
import { ProposerModel } from "@inspo/reflection"
import { layerMemory } from "@inspo/journal/sqlite"
import { Effect, Schema } from "effect"
import * as ScriptedRun from "../../coevolution/test/support/ScriptedRun.ts"
import { trainQuestions } from "./support/SyntheticLog.ts"

const forecast = (algorithm: Algorithm, train = 1000) =>
  Plan.forecast(Strategies.deciding(algorithm), { train: trainQuestions(train), validation: 100, test: 500 })

const { paper, quick, robust } = Presets

describe("forecast", () => {
  it("plans the paper's run as the paper reports it", () => {
    const plan = forecast(paper)
    assert.strictEqual(plan.steps, 300)
    assert.strictEqual(plan.rollouts.train, 768_000)
    assert.deepStrictEqual(
      plan.evolutions.map(({ step }) => step),
      [15, 30, 45, 60, 75, 90, 105, 120, 135]
    )
    const cycles = [0, 15, 30, 45, 60, 75, 90, 105, 120, 135]
    assert.deepStrictEqual(
      plan.prunes,
      cycles.flatMap((start) => [
        { step: start + 5, from: 7, to: 4 },
        { step: start + 10, from: 4, to: 2 },
        { step: start + 15, from: 2, to: 1 }
      ])
    )
    assert.deepStrictEqual(plan.bounds.verification, { min: 0, expected: 9 * 1200, max: 9 * 6000 })
    assert.deepStrictEqual(plan.bounds.proposerCalls, { min: 1, expected: 1 + 9, max: 1 + 45 })
    assert.deepStrictEqual(
      [4, 5, 9, 10, 14, 15, 299].map((index) => plan.population[index]),
      [7, 4, 4, 2, 2, 7, 1]
    )
  })

  it("counts the tenth evolution, and the parent's own rollouts where it is run again", () => {
    const plan = forecast({
      ...robust,
      selection: { ...robust.selection, removal: "bottom-half", rounds: 5 },
      verification: { samples: 200 }
    })
    assert.strictEqual(plan.evolutions.length, 10)
    assert.strictEqual(plan.rollouts.verification, 10 * 7 * 200)
    assert.strictEqual(plan.bounds.verification.max, 10 * 5 * 7 * 200)
    assert.strictEqual(plan.bounds.proposerCalls.expected, 11)
  })

  it("spends no rollout on candidates that join untried", { tags: "deep" }, () => {
    const plan = forecast(robust)
    const { proposerCalls, verification } = plan.bounds
    assert.strictEqual(plan.evolutions.length, 10)
    assert.deepStrictEqual(verification, { min: 0, expected: 0, max: 0 })
    assert.strictEqual(plan.rollouts.train, forecast(paper).rollouts.train)
    assert.deepStrictEqual(proposerCalls, { min: 1, expected: 11, max: 286 })
  })

  it("halves the width of a value with four times the groups", () => {
    const atBatch = (batchSize: number) =>
      forecast({ ...quick, train: { ...quick.train, batchSize, miniBatch: { ...quick.train.miniBatch, size: 1 } } })
        .valueHalfWidth
    assert.approximately(atBatch(64), 2 * atBatch(256), 1e-12)
    // 1.96 standard errors of a fair coin tossed 5 × 64 / 7 times.
    assert.approximately(atBatch(64), 0.145, 0.0005)
    const selection = { ...quick.selection, window: 1 }
    assert.strictEqual(
      forecast(
        {
          ...quick,
          selection,
          train: { ...quick.train, batchSize: 256, miniBatch: { ...quick.train.miniBatch, size: 1 } }
        },
        2
      ).valueHalfWidth,
      0.5
    )
  })

  it.each(["evolving", "lessons"] as const)(
    "counts what a proposer that learns asks before its proposals: %s",
    { tags: "deep" },
    (name) => {
      const kind = ProposerModel.learning(name)
      const usual = forecast(robust).bounds.proposerCalls
      const { expected, max, min } = forecast({ ...robust, proposer: { ...robust.proposer, kind } }).bounds
        .proposerCalls
      // Each proposal but the first; a contest of methods takes four.
      const asked = name === "lessons" ? usual.expected - 2 : Math.ceil((usual.expected - 2) / 4)
      assert.strictEqual(expected, usual.expected + asked)
      assert.deepStrictEqual([min, max], [usual.min, usual.max + usual.max - 2])
    }
  )

  it("asks no proposer and verifies nothing with one instruction", () => {
    const plan = forecast({ ...quick, population: { ...quick.population, size: 1 } })
    assert.deepStrictEqual(plan.bounds.proposerCalls, { min: 0, expected: 0, max: 0 })
    assert.deepStrictEqual(plan.bounds.verification, { min: 0, expected: 0, max: 0 })
    assert.deepStrictEqual([plan.prunes, plan.evolutions], [[], []])
  })

  it("trains on no more questions than there are", () => {
    assert.strictEqual(forecast(quick, 10).rollouts.train, 65 * 10 * 5)
  })

  const { algorithm } = ScriptedRun
  it.effect.each<readonly [string, Algorithm]>([
    ["as it is", algorithm],
    ["with two parents", { ...algorithm, population: { ...algorithm.population, parents: 2 } }],
    ["instructions on the same questions", ScriptedRun.comparing],
    ["instructions that share samples", ScriptedRun.sharing],
    ["untried candidates", { ...algorithm, verification: { ...algorithm.verification, samples: 0 } }],
    [
      "more rounds",
      { ...algorithm, randomSeed: 5, selection: { ...algorithm.selection, rounds: 4, baseline: "stored" } }
    ],
    ["unpruned", { ...algorithm, randomSeed: 6, schedule: { ...algorithm.schedule, pruneEvery: 0, evolveEvery: 3 } }]
  ])("bounds what a run spends: %s", ([, settings]) =>
    Effect.gen(function* () {
      const { data } = yield* ScriptedRun.make(settings)
      const events: Array<RunEvent> = []
      const state = yield* ScriptedRun.runOn(settings, layerMemory, (event) => Effect.sync(() => events.push(event)))
      const plan = Plan.forecast(Strategies.deciding(settings), {
        train: data.train,
        validation: data.validation.length,
        test: data.test.length
      })
      const { rollouts } = state.spent
      assert.strictEqual(rollouts.train, plan.rollouts.train)
      const cells = new Set(state.evaluations.map(({ instruction }) => instruction)).size
      if (cells === 2) assert.strictEqual(rollouts.evaluation, plan.rollouts.evaluation)
      within(rollouts.verification, plan.bounds.verification)
      within(1 + events.filter(({ _tag }) => _tag === "CandidatesProposed").length, plan.bounds.proposerCalls)
      assert.deepStrictEqual(
        events.flatMap((event) => (evolves.has(event._tag) && "step" in event ? [event.step] : [])),
        plan.evolutions.map(({ step }) => step)
      )
    })
  )

  it.prop(
    "orders its bounds, and its population stays between parents and size",
    [
      Schema.Struct({
        size: Schema.Literals([1, 2, 5, 7]),
        pruneEvery: Schema.Literals([0, 1, 3, 5]),
        evolveEvery: Schema.Literals([0, 2, 5]),
        candidates: Schema.Literals([1, 3, 6]),
        rounds: Schema.Literals([1, 3])
      })
    ],
    ([{ candidates, evolveEvery, pruneEvery, rounds, size }]) => {
      const plan = forecast(
        {
          ...quick,
          population: { ...quick.population, size },
          schedule: { ...quick.schedule, steps: 12, pruneEvery, evolveEvery, evolveUntil: 10 },
          proposer: { ...quick.proposer, candidates },
          selection: { ...quick.selection, rounds }
        },
        40
      )
      for (const { expected, max, min } of Object.values(plan.bounds)) {
        assert.isAtMost(min, expected)
        assert.isAtMost(expected, max)
      }
      assert.strictEqual(plan.population.length, 12)
      for (const alive of plan.population) assert.isTrue(alive >= 1 && alive <= size)
      for (const { from, to } of plan.prunes) assert.isBelow(to, from)
    },
    { arbitrary: { runs: 40 } }
  )
})

const evolves = new Set<RunEvent["_tag"]>(["PopulationRefilled", "EvolutionSkipped"])

const within = (value: number, { max, min }: Plan.Bounds) => {
  assert.isAtLeast(value, min)
  assert.isAtMost(value, max)
}

describe("the maximum of tokens", () => {
  it("takes the bound of the agent that plays, and so of every agent of a config", () => {
    const configured: Algorithm["rollout"] = { ...ScriptedRun.algorithm.rollout, agent: { name: "direct" }, tools: [] }
    const own: Agent = { ...ToolLoop.agent, maximumTokens: () => 12_345 }
    const questions = { train: [{ id: Question.QuestionId.make("q"), dataSource: "world" }], validation: 0, test: 0 }
    const planned = (rollout: Algorithm["rollout"], agent?: Agent) =>
      Plan.forecast(Strategies.deciding({ ...ScriptedRun.algorithm, rollout }), questions, agent).maximumTokens
    const { maxTurns } = configured
    const conversation = ToolLoop.maximumTokens(configured)
    const share = planned(configured, own) / 12_345
    assert.isTrue(Number.isInteger(share))
    assert.strictEqual(planned({ ...configured, agent: { name: "search-r1" } }), share * conversation)
    assert.strictEqual(planned({ ...configured, agent: { name: "search-o1" } }), share * conversation * (1 + maxTurns))
    assert.strictEqual(planned(configured), share * ToolLoop.maximumTokens({ ...configured, maxTurns: 0 }))
    assert.strictEqual(
      Agents.maximumTokens(Agents.fromConfig({ agent: "search-o1" }), configured, 500),
      500 * (1 + maxTurns)
    )
  })
})

describe("warnings", () => {
  const sound: Algorithm = {
    ...quick,
    selection: { ...quick.selection, average: "steps", removal: "bottom-half", rounds: 5 },
    verification: { samples: 200 },
    rollout: { ...quick.rollout, instructionsPerQuestion: 1 },
    schedule: { ...quick.schedule, steps: 20, pruneEvery: 5, evolveEvery: 10, evolveUntil: 10 },
    train: { ...quick.train, batchSize: 2000 }
  }
  const { population, schedule, selection, train } = sound

  it("keep silent about a sound algorithm", () => {
    assert.deepStrictEqual(forecast({ ...sound, population: { ...population, size: 2 } }, 2000).warnings, [])
  })

  it.each<readonly [string, Algorithm, number]>([
    [
      "window is 2 and schedule.pruneEvery 5: the rewards of 3 steps",
      { ...sound, selection: { ...selection, window: 2 } },
      50
    ],
    ["distinguishes rewards that differ by 41.0 points or more", { ...sound, train: { ...train, batchSize: 16 } }, 50],
    [
      "evolveUntil is 40, but the run ends at step 20: 2 evolutions",
      { ...sound, schedule: { ...schedule, evolveUntil: 40 } },
      50
    ],
    ["at step 20, the last one, adds", { ...sound, schedule: { ...schedule, evolveUntil: 20 } }, 50],
    ["step 8 the parents are chosen from 4 instructions", { ...sound, schedule: { ...schedule, evolveEvery: 8 } }, 50],
    ["batchSize is 4 for 7 instructions", { ...sound, train: { ...train, batchSize: 4 } }, 50],
    [
      "buffer has only 9 questions to verify with (it keeps 5 steps",
      { ...sound, train: { ...train, batchSize: 10 } },
      10
    ]
  ])("say: %s", (part, algorithm, questions) => {
    const warnings = forecast(algorithm, questions).warnings
    assert.strictEqual(warnings.filter((warning) => warning.includes(part)).length, 1, warnings.join("\n"))
    for (const warning of warnings) assert.match(warning, /^[a-zA-Z].*\.$/u)
  })

  it("count distinct questions where they may repeat", () => {
    const algorithm: Algorithm = {
      ...sound,
      selection: { ...selection, questions: "uniform", baseline: "stored" }
    }
    const warned = forecast({ ...algorithm, train: { ...train, batchSize: 10 } }, 10).warnings
    assert.isTrue(warned.some((warning) => warning.includes("only 10 questions")))
  })
})
