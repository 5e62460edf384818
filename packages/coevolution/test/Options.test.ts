/** @module-tag deep */
import { assert, describe, it } from "@effect/vitest"
import { EventLog, type Algorithm, inconsistency, type RunEvent, Strategies, unsupported } from "@inspo/coevolution"
import type { Engine, EngineProfile } from "@inspo/engine"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { LearningRate } from "@inspo/policy-gradient"
import { ReplayBuffer } from "@inspo/replay-buffer"
import { Proposer, ProposerError, type ProposerErrorKind } from "@inspo/reflection"
import { Effect, Fiber, Layer, Schema } from "effect"
import { algorithm, comparing, runOn, type Replaced, sharing } from "./support/ScriptedRun.ts"

const history = (settings: Algorithm, replaced: Replaced = {}) =>
  Effect.gen(function* () {
    const journal = yield* Journal
    const state = yield* runOn(settings, Layer.succeed(Journal, journal), undefined, replaced)
    const trajectories = yield* journal.listRecords("trajectory")
    return { events: yield* EventLog.read(journal), state, trajectories }
  }).pipe(Effect.provide(layerMemory, { local: true }))

const of = <Tag extends RunEvent["_tag"]>(events: ReadonlyArray<RunEvent>, tag: Tag) =>
  events.filter((event): event is Extract<RunEvent, { readonly _tag: Tag }> => event._tag === tag)

const training = (changes: Partial<Algorithm["train"]>): Algorithm => ({
  ...algorithm,
  train: { ...algorithm.train, ...changes }
})

const withOptimizer = (changes: Partial<Algorithm["train"]["optimizer"]>) => ({
  optimizer: { ...algorithm.train.optimizer, ...changes }
})

describe("train", () => {
  it.effect(
    "control.policyFirst: the policy trains under the seed alone, then instructions evolve and nothing is trained",
    () =>
      Effect.gen(function* () {
        const { events } = yield* history({
          ...training({ fromStep: 3 }),
          control: { ...algorithm.control, policyFirst: 6 }
        })
        assert.deepStrictEqual(
          of(events, "StepTrained").flatMap(({ metrics, step }) => (metrics.length > 0 ? [step] : [])),
          [3, 4, 5, 6]
        )
        assert.deepStrictEqual(
          of(events, "PopulationInitialised").map(({ instructions }) => instructions.length),
          [1]
        )
        // Every fourth step is due.
        assert.deepStrictEqual(
          of(events, "ParentsChosen").map(({ step }) => step),
          [8]
        )
        assert.lengthOf(of(events, "RolloutsCollected"), algorithm.schedule.steps)
      })
  )

  it.effect(
    "kl folded into the advantages: the reference is asked once per mini-batch, and never again on a resume",
    () =>
      Effect.gen(function* () {
        const settings = training({ kl: { name: "advantages", coefficient: 0.1 } })
        const journal = yield* Journal
        let committed = 0
        const stopped = yield* runOn(settings, Layer.succeed(Journal, journal), () =>
          ++committed > 20 ? Effect.interrupt : Effect.void
        ).pipe(Effect.forkChild, Effect.flatMap(Fiber.await))
        assert.strictEqual(stopped._tag, "Failure")
        const before = yield* journal.listRecords("reference")
        yield* runOn(settings, Layer.succeed(Journal, journal))
        const records = yield* journal.listRecords("reference")
        assert.isAbove(before.length, 0)
        assert.includeDeepMembers(
          records.map(({ key, value }) => ({ key, value })),
          before.map(({ key, value }) => ({ key, value }))
        )
        const miniBatches = of(yield* EventLog.read(journal), "TrainingPlanned").map((event) => event.miniBatches)
        assert.strictEqual(
          records.length,
          miniBatches.reduce((sum, count) => sum + count, 0)
        )
      }).pipe(Effect.provide(layerMemory, { local: true }))
  )
})

describe("the engine", () => {
  it.effect("is asked again for nothing that it scored in part: the run stops and names the sequence", () =>
    Effect.gen(function* () {
      const settings = training({ kl: { name: "advantages", coefficient: 0.1 } })
      const cut = (engine: Engine.Interface): Engine.Interface => ({
        ...engine,
        score: (policy, sequences) =>
          Effect.map(engine.score(policy, sequences), (scores) =>
            scores.map((logprobs, at) => (at === 1 ? logprobs.slice(1) : logprobs))
          )
      })
      const error = yield* Effect.flip(runOn(settings, layerMemory, undefined, { engine: cut }))
      assert.match(
        error.message,
        /expected a log-probability for each token of each response; sequence 1 has another number/u
      )
    })
  )

  it.effect("evaluates each policy of the table with the values it had then", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const restored: Array<string> = []
      const watched = (engine: Engine.Interface): Engine.Interface => ({
        ...engine,
        restore: (checkpoint, options) =>
          Effect.andThen(
            Effect.sync(() => restored.push(checkpoint.uri)),
            engine.restore(checkpoint, options)
          )
      })
      yield* runOn(algorithm, Layer.succeed(Journal, journal), undefined, { engine: watched })
      const saved = of(yield* EventLog.read(journal), "CheckpointSaved")
      const first = saved.find(({ step }) => step === 0)
      assert.strictEqual(restored.at(-1), first?.checkpoint.uri)
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )
})

describe("unsupported", () => {
  const engine = { name: "e" } as const
  const profile = (changes: Partial<EngineProfile>): EngineProfile => ({
    ...engine,
    model: "m",
    parameters: 0,
    contextLength: 1,
    concurrency: 1,
    deterministic: true,
    fingerprint: "",
    ...changes
  })
  const field = (changes: Partial<Algorithm["train"]>, engine: EngineProfile) =>
    unsupported(training({ kl: { name: "none" }, ...changes }), { profile: engine })?.field ?? null

  it("refuses a KL term in the loss of an engine that takes none, and says what to set", () => {
    const without = profile({ klInLoss: false })
    assert.strictEqual(field({ kl: { name: "loss", coefficient: 0.1 } }, without), "train.kl")
    assert.isNull(field({ kl: { name: "advantages", coefficient: 0.1 } }, without))
    assert.isNull(field({ kl: { name: "loss", coefficient: 0.1 } }, profile({})))
    const blind = profile({ scoresReference: false })
    assert.strictEqual(field({ kl: { name: "advantages", coefficient: 0.1 } }, blind), "train.kl")
    assert.isNull(field({ kl: { name: "none" } }, blind))
    assert.isNull(field({}, without))
  })

  it("refuses staleness on an engine that cannot sample from held weights, and says what to set", () => {
    const stale = training({ staleness: 1, kl: { name: "none" } })
    const error = unsupported(stale, { profile: profile({}) })
    assert.match(error?.message ?? "", /train\.staleness is 1; expected 0, .* engine e .*Set train\.staleness to 0/u)
    assert.isNull(unsupported(stale, { profile: profile({}), hold: Effect.void }))
    assert.isNull(unsupported(training({ staleness: 1, fromStep: null }), { profile: profile({}) }))
  })

  it("refuses another value than the default where the server has its own", () => {
    const own = profile({ fixedOptimizer: ["gradientClip"] })
    assert.strictEqual(field(withOptimizer({ gradientClip: 0.5 }), own), "train.optimizer.gradientClip")
    assert.isNull(field(withOptimizer({ beta1: 0.8 }), own))
    assert.isNull(field({}, own))
    assert.isNull(field(withOptimizer({ gradientClip: 0.5 }), profile({})))
  })

  it.effect("before anything is written", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const frozen = (engine: Engine.Interface) => ({ ...engine, profile: { ...engine.profile, trains: false } })
      const error = yield* Effect.flip(
        runOn(training({}), Layer.succeed(Journal, journal), undefined, { engine: frozen })
      )
      assert.strictEqual(error._tag, "ConfigError")
      assert.lengthOf(yield* EventLog.read(journal), 0)
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )
})

describe("variants", () => {
  it.effect("live from the start, beside what the proposer writes", () =>
    Effect.gen(function* () {
      const own = ["Search. <search> </search> <answer> </answer>", "Think. <search> </search> <answer> </answer>"]
      const { events } = yield* history({ ...algorithm, variants: own })
      const [first] = of(events, "PopulationInitialised")
      assert.deepStrictEqual(
        first?.instructions.map(({ origin }) => origin),
        ["seed", "variant", "variant", "variant", "variant"]
      )
      assert.deepStrictEqual(
        first?.instructions.slice(0, 3).map(({ text }) => text),
        [algorithm.seedInstruction, ...own]
      )
    })
  )
})

describe("verification", () => {
  it.effect("arms that agree in their text agree in their trajectories: they draw alike on each question", () =>
    Effect.gen(function* () {
      const echo = Layer.succeed(Proposer, {
        initial: () => Effect.succeed(proposal([])),
        propose: ({ parent }) => Effect.succeed(proposal([parent.text, parent.text]))
      })
      const { events } = yield* history(
        { ...algorithm, selection: { ...algorithm.selection, lint: "parsed" } },
        { proposer: echo }
      )
      const verified = of(events, "CandidatesVerified")
      assert.isAbove(verified.length, 0)
      for (const { candidates, parent } of verified)
        for (const scores of candidates) assert.deepStrictEqual(scores, parent)
    })
  )

  it.effect("keeps the trajectories of all arms apart", () =>
    Effect.gen(function* () {
      const { events, trajectories } = yield* history(algorithm)
      const names = trajectories.map(({ key }) => key).filter((key) => key.startsWith("verify/"))
      const rollouts = of(events, "CandidatesVerified").reduce((sum, event) => sum + event.rollouts, 0)
      assert.strictEqual(new Set(names).size, rollouts)
    })
  )
})

describe("selection.rounds", () => {
  it.effect("a round that finds no failures to learn from ends the evolution with what earlier ones brought", () =>
    Effect.gen(function* () {
      const settings = { ...algorithm, proposer: { ...algorithm.proposer, candidates: 1 } }
      const { buffer } = Strategies.ofAlgorithm(settings)
      const failures: typeof buffer.failures = (state, asked) =>
        asked.path[2] === 1 ? buffer.failures(state, asked) : []
      const strategies = Layer.merge(
        Strategies.layer(settings),
        Layer.succeed(ReplayBuffer.ReplayBuffer, { ...buffer, failures })
      )
      const { events } = yield* history(settings, { strategies })
      const verified = of(events, "CandidatesJudged")
      assert.isAbove(verified.length, 0)
      assert.isTrue(of(events, "CandidatesProposed").every(({ round }) => round === 1))
      assert.deepStrictEqual(
        of(events, "PopulationRefilled").map(({ step }) => step),
        verified.map(({ step }) => step)
      )
    })
  )
})

describe("rollout.instructionsPerQuestion", () => {
  it.effect("a number: several instructions have groups on the same questions, no more groups than without", () =>
    Effect.gen(function* () {
      const { events, state } = yield* history(comparing)
      const { groupSize } = comparing.rollout
      const { batchSize } = comparing.train
      assert.strictEqual(state.spent.rollouts.train, comparing.schedule.steps * batchSize * groupSize)
      const collected = of(events, "RolloutsCollected")
      for (const { groups } of collected) {
        assert.lengthOf(groups, batchSize)
        for (const { rewards } of groups) assert.lengthOf(rewards, groupSize)
      }
      assert.isTrue(
        collected.some(({ groups }) => new Set(groups.map(({ questionId }) => questionId)).size < groups.length)
      )
      assert.isAbove(state.population.comparison.freedom, 0)
    })
  )

  it.effect(
    "samples: the instructions share the G samples of every question, and each sample has its own advantage",
    () =>
      Effect.gen(function* () {
        const { events, state, trajectories } = yield* history(sharing)
        const { groupSize } = sharing.rollout
        const { batchSize } = sharing.train
        assert.strictEqual(state.spent.rollouts.train, sharing.schedule.steps * batchSize * groupSize)
        for (const { groups } of of(events, "RolloutsCollected")) {
          const byQuestion = [...Map.groupBy(groups, ({ questionId }) => questionId).values()]
          assert.lengthOf(byQuestion, batchSize)
          for (const own of byQuestion)
            assert.strictEqual(
              own.reduce((sum, { rewards }) => sum + rewards.length, 0),
              groupSize
            )
        }
        const names = trajectories.map(({ key }) => key).filter((key) => key.startsWith("train/"))
        assert.strictEqual(new Set(names).size, state.spent.rollouts.train)
      })
  )

  it("samples: needs advantages without the standard deviation of the group", () => {
    const standardised: Algorithm = { ...sharing, train: { ...sharing.train, advantage: algorithm.train.advantage } }
    assert.strictEqual(inconsistency(standardised)?.field, "train.advantage")
    assert.isNull(inconsistency({ ...standardised, train: { ...standardised.train, fromStep: null } }))
    assert.isNull(inconsistency(sharing))
  })

  it.effect.prop(
    "continues after a stop anywhere as if it had not stopped",
    [Schema.Int.check(Schema.isBetween({ minimum: 15, maximum: 45 })), Schema.Literals(["comparing", "sharing"])],
    ([stopAfter, kind]) =>
      Effect.gen(function* () {
        const settings = { comparing, sharing }[kind]
        const whole = yield* history(settings)
        const journal = yield* Journal
        let committed = 0
        yield* runOn(settings, Layer.succeed(Journal, journal), () =>
          ++committed > stopAfter ? Effect.interrupt : Effect.void
        ).pipe(Effect.forkChild, Effect.flatMap(Fiber.await))
        yield* runOn(settings, Layer.succeed(Journal, journal))
        assert.deepStrictEqual(yield* EventLog.read(journal), whole.events)
      }).pipe(Effect.provide(layerMemory, { local: true })),
    { arbitrary: { runs: 4 } }
  )
})

describe("train.fromStep", () => {
  it.effect("null: evolves instructions and never asks the engine to train", () =>
    Effect.gen(function* () {
      const settings = training({ fromStep: null })
      const journal = yield* Journal
      const state = yield* runOn(settings, Layer.succeed(Journal, journal), undefined, { engine: frozen })
      const events = yield* EventLog.read(journal)
      assert.lengthOf(of(events, "TrainingPlanned"), 0)
      assert.isTrue(of(events, "StepTrained").every(({ metrics }) => metrics.length === 0))
      assert.isTrue(of(events, "StepPlanned").every(({ learningRate }) => learningRate === 0))
      assert.isAbove(of(events, "PopulationRefilled").length, 0)
      assert.strictEqual(state.phase._tag, "Finished")
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect("a number: the schedule of the learning rate begins there", () =>
    Effect.gen(function* () {
      const settings = training({ fromStep: 4 })
      const journal = yield* Journal
      yield* runOn(settings, Layer.succeed(Journal, journal))
      const rates = of(yield* EventLog.read(journal), "StepPlanned").map(({ learningRate }) => learningRate)
      const steps = settings.schedule.steps - 3
      const expected = Array.from({ length: steps }, (_, index) =>
        LearningRate.at({ ...settings.train.optimizer, learningRate: settings.train.learningRate }, index + 1, steps)
      )
      assert.deepStrictEqual(rates.slice(3), expected)
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect("null is what an algorithm needs for an engine that does not train", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const error = yield* Effect.flip(runOn(algorithm, Layer.succeed(Journal, journal), undefined, { engine: frozen }))
      assert.strictEqual(error._tag, "ConfigError")
      assert.include(error.message, "train.fromStep")
      assert.lengthOf(yield* EventLog.read(journal), 0)
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )
})

/** An engine that only samples. */
const frozen = (engine: Engine.Interface): Engine.Interface => ({
  ...engine,
  profile: { ...engine.profile, trains: false },
  train: () => Effect.die(new Error("this engine does not train"))
})

describe("selection.onError", () => {
  const failing = (calls: Array<string>, kind?: ProposerErrorKind) =>
    Layer.succeed(Proposer, {
      initial: () => Effect.succeed(proposal([])),
      propose: ({ stream }) =>
        Effect.suspend(() => {
          calls.push(stream.join("/"))
          return Effect.fail(
            new ProposerError({ proposer: "broken", reason: "no answer", ...(kind === undefined ? {} : { kind }) })
          )
        })
    })

  it.effect("continue: asks three times, then trains on with the parents", () =>
    Effect.gen(function* () {
      const calls: Array<string> = []
      const { events, state } = yield* history(algorithm, { proposer: failing(calls) })
      assert.strictEqual(state.step, algorithm.schedule.steps)
      const proposed = of(events, "CandidatesProposed")
      for (const { candidates, critique, failure } of proposed)
        assert.deepStrictEqual(
          [candidates, critique, failure],
          [[], "", { kind: "other", message: "proposer broken: no answer" }]
        )
      assert.strictEqual(calls.length, 3 * new Set(calls).size)
      assert.deepInclude(state.degraded, {
        part: "proposer",
        step: proposed[0]?.step,
        count: proposed.length,
        message: "proposer broken: no answer"
      })
    })
  )

  it.effect("continue: stops at once where nothing but a person can mend the cause", () =>
    Effect.gen(function* () {
      for (const kind of ["unauthorized", "not-found", "quota-exhausted"] as const) {
        const calls: Array<string> = []
        const error = yield* Effect.flip(history(algorithm, { proposer: failing(calls, kind) }))
        assert.strictEqual(error._tag, "ProposerError")
        assert.lengthOf(calls, 1)
      }
    })
  )

  it.effect("stop: the run fails", () =>
    Effect.gen(function* () {
      const calls: Array<string> = []
      const settings: Algorithm = { ...algorithm, selection: { ...algorithm.selection, onError: "stop" } }
      const error = yield* Effect.flip(history(settings, { proposer: failing(calls) }))
      assert.strictEqual(error._tag, "ProposerError")
      assert.lengthOf(calls, 1)
    })
  )
})

function proposal(texts: ReadonlyArray<string>) {
  return {
    critique: "",
    candidates: texts.map((text) => ({ text, rationale: "" })),
    spent: { calls: 0, tokens: 0, usd: 0 }
  }
}
