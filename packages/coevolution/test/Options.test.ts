import { assert, describe, it } from "@effect/vitest"
import { EventLog, type Algorithm, type RunEvent, Strategies, unsupported } from "@inspo/coevolution"
import type { Engine, EngineProfile } from "@inspo/engine"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { LearningRate } from "@inspo/policy-gradient"
import { ReplayBuffer } from "@inspo/replay-buffer"
import { Round } from "@inspo/verification"
import { Proposer, ProposerError, type ProposerErrorKind } from "@inspo/reflection"
import { Array as Arr, Effect, Fiber, Layer, Predicate, Schema } from "effect"
import { algorithm, runOn, type Replaced, reusing, stopping } from "./support/ScriptedRun.ts"

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

describe("train", () => {
  it.effect(
    "schedule.policyFirst: the policy trains under the seed alone, then instructions evolve and nothing is trained",
    () =>
      Effect.gen(function* () {
        const { events } = yield* history({
          ...training({ fromStep: 3 }),
          schedule: { ...algorithm.schedule, policyFirst: 6 }
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
        const settings = training({ kl: "advantages", klCoefficient: 0.1 })
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
      const settings = training({ kl: "advantages", klCoefficient: 0.1 })
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
    unsupported(training({ klCoefficient: 0, entropyCoefficient: 0, ...changes }), engine)?.field ?? null

  it("refuses a KL or entropy term in the loss of an engine that takes none, and says what to set", () => {
    const without = profile({ klInLoss: false })
    assert.strictEqual(field({ klCoefficient: 0.1, kl: "loss" }, without), "train.kl")
    assert.isNull(field({ klCoefficient: 0.1, kl: "advantages" }, without))
    assert.isNull(field({ klCoefficient: 0.1, kl: "loss" }, profile({})))
    const blind = profile({ scoresReference: false })
    assert.strictEqual(field({ klCoefficient: 0.1, kl: "advantages" }, blind), "train.klCoefficient")
    assert.isNull(field({ klCoefficient: 0, kl: "advantages" }, blind))
    assert.strictEqual(field({ entropyCoefficient: 0.1 }, profile({})), "train.entropyCoefficient")
    assert.isNull(field({ entropyCoefficient: 0.1 }, profile({ entropyInLoss: true })))
    assert.isNull(field({}, without))
  })

  it("refuses another value than the default where the server has its own", () => {
    const own = profile({ fixedOptimizer: ["gradientClip"] })
    assert.strictEqual(field({ gradientClip: 0.5 }, own), "train.gradientClip")
    assert.isNull(field({ beta1: 0.8 }, own))
    assert.isNull(field({}, own))
    assert.isNull(field({ gradientClip: 0.5 }, profile({})))
  })

  it.effect("before anything is written", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const error = yield* Effect.flip(runOn(training({ entropyCoefficient: 0.1 }), Layer.succeed(Journal, journal)))
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
        ["seed", "seed", "seed", "variant", "variant"]
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
        { ...algorithm, proposer: { ...algorithm.proposer, lint: "parsed" } },
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

describe("verification.rounds", () => {
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

describe("verification.stop", () => {
  it.effect("asks the same questions with the same luck, only fewer", () =>
    Effect.gen(function* () {
      const firstRound = (events: ReadonlyArray<RunEvent>) => {
        const [first] = of(events, "CandidatesVerified")
        const batches = of(events, "CandidatesVerified").filter(
          ({ round, step }) => step === first?.step && round === first.round
        )
        if (!Arr.isArrayNonEmpty(batches)) return undefined
        const round = batches.reduce(Round.record, Round.begin(batches[0].candidates.length))
        return { ...round, rollouts: batches.reduce((total, { rollouts }) => total + rollouts, 0) }
      }
      const better = Layer.succeed(Proposer, {
        initial: () => Effect.succeed(proposal([])),
        propose: ({ parent }) => Effect.succeed(proposal([`${parent.text} Answer with the name only.`, parent.text]))
      })
      const withMore = (verification: Algorithm["verification"]) =>
        Effect.map(
          history(
            {
              ...algorithm,
              proposer: { ...algorithm.proposer, lint: "parsed" },
              verification: { ...verification, samples: 10 }
            },
            { proposer: better }
          ),
          ({ events }) => firstRound(events)
        )
      const [full, stopped] = yield* Effect.all([withMore(algorithm.verification), withMore(stopping)])
      assert.isAbove(full?.questions.length ?? 0, 2)
      assert.isBelow(stopped?.rollouts ?? NaN, full?.rollouts ?? NaN)
      assert.deepStrictEqual(stopped?.questions, full?.questions.slice(0, stopped?.questions.length))
      for (const [place, scores] of (stopped?.candidates ?? []).entries())
        assert.deepStrictEqual(scores, full?.candidates[place]?.slice(0, scores.length))
    })
  )
})

describe("verification.reuse", () => {
  it.effect("tries candidates in whole groups of the steps, which are no more than without", () =>
    Effect.gen(function* () {
      const { events, state } = yield* history(reusing)
      const { batchSize } = reusing.train
      const { groupSize } = reusing.rollout
      assert.strictEqual(state.spent.rollouts.verification, 0)
      assert.strictEqual(state.spent.rollouts.train, reusing.schedule.steps * batchSize * groupSize)
      const collected = of(events, "RolloutsCollected")
      for (const { groups } of collected) {
        assert.lengthOf(groups, batchSize)
        for (const { rewards } of groups) assert.lengthOf(rewards, groupSize)
      }
      const tried = collected.flatMap(({ groups }) =>
        groups.filter(({ instructionId }) => instructionId.startsWith("candidate-"))
      )
      const verified = of(events, "CandidatesVerified")
      assert.isAbove(tried.length, 0)
      assert.lengthOf(
        tried,
        verified.flatMap(({ candidates }) => candidates.flat()).length,
        "a score is the mean of a group"
      )
      assert.isAbove(of(events, "PopulationRefilled").length, 0)
    })
  )

  it.effect("gives candidates and parent the same questions, none of which was reflected on", () =>
    Effect.gen(function* () {
      const { events, trajectories } = yield* history(reusing)
      const questionOf = new Map(
        trajectories.map(({ key, value }) => [
          key,
          Predicate.hasProperty(value, "questionId") ? value.questionId : null
        ])
      )
      for (const proposal of of(events, "CandidatesProposed")) {
        const reflected = proposal.failures.map((id) => questionOf.get(id))
        const batches = of(events, "CandidatesVerified").filter(
          ({ round, step }) => step === proposal.step && round === proposal.round
        )
        assert.isAbove(batches.length, 0)
        for (const { questions } of batches) assert.notIncludeMembers(reflected, [...questions])
      }
    })
  )

  it.effect.prop(
    "goes on after a stop anywhere as if it had not stopped",
    [Schema.Int.check(Schema.isBetween({ minimum: 15, maximum: 45 }))],
    ([stopAfter]) =>
      Effect.gen(function* () {
        const whole = yield* history(reusing)
        const journal = yield* Journal
        let committed = 0
        yield* runOn(reusing, Layer.succeed(Journal, journal), () =>
          ++committed > stopAfter ? Effect.interrupt : Effect.void
        ).pipe(Effect.forkChild, Effect.flatMap(Fiber.await))
        yield* runOn(reusing, Layer.succeed(Journal, journal))
        assert.deepStrictEqual(yield* EventLog.read(journal), whole.events)
      }).pipe(Effect.provide(layerMemory, { local: true })),
    { arbitrary: { runs: 2 } }
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
      const expected = Array.from({ length: steps }, (_, index) => LearningRate.at(settings.train, index + 1, steps))
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

describe("proposer.onError", () => {
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
      const settings: Algorithm = { ...algorithm, proposer: { ...algorithm.proposer, onError: "stop" } }
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
