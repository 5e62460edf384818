import { assert, describe, it } from "@effect/vitest"
import { EventLog, Replay, type Algorithm, StateHash, Strategies } from "@inspo/coevolution"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Losses } from "@inspo/policy-gradient"
import { JudgeModels } from "@inspo/reward"
import { Proposer, ProposerError, ProposerModel } from "@inspo/reflection"
import { type Search, SearchError } from "@inspo/retrieval"
import { Effect, Layer, Schema } from "effect"
import { judge, judged } from "./support/ScriptedJudge.ts"
import { algorithm, comparing, make, rescuing, runOn, sharing } from "./support/ScriptedRun.ts"

/** A finished run on a journal of its own, with what a replay needs. */
const record = (settings: Algorithm) =>
  Effect.gen(function* () {
    const journal = yield* Journal
    const model = judge(new Map())
    // The later a token is, the more it depends on what was shown before.
    const state = yield* runOn(settings, Layer.succeed(Journal, journal), undefined, {
      engine: (engine) => ({
        ...engine,
        score: (which, sequences) =>
          Effect.map(engine.score(which, sequences), (all) =>
            all.map((logprobs) => logprobs.map((logprob, at) => logprob - at / 1000))
          )
      })
    }).pipe(Effect.provideService(JudgeModels, () => Effect.succeed(model)))
    const { data } = yield* make(settings)
    return { journal, state, run: { algorithm: settings, data, entries: yield* EventLog.readEntries(journal) } }
  })

const replayed = (run: Parameters<typeof Replay.replay>[0]) =>
  Effect.provide(Replay.replay(run), Strategies.layer(run.algorithm))

const short: Algorithm = { ...algorithm, schedule: { ...algorithm.schedule, steps: 5 } }

const learning = (kind: "evolving" | "lessons"): Algorithm => ({
  ...algorithm,
  proposer: {
    ...algorithm.proposer,
    kind: ProposerModel.learning(kind),
    model: ProposerModel.named("openai:proposer")
  }
})

const withKl: Algorithm = {
  ...short,
  train: { ...algorithm.train, kl: { name: "advantages", coefficient: 0.01 } },
  evaluation: { ...algorithm.evaluation, every: 3 }
}

const lacking: Algorithm = {
  ...short,
  train: {
    ...short.train,
    loss: Schema.decodeSync(Losses.Loss)("gspo"),
    miniBatch: { ...short.train.miniBatch, epochs: 2 }
  }
}

const credited = (credit: Algorithm["train"]["credit"]): Algorithm => ({ ...short, train: { ...short.train, credit } })
const shaped = (shaping: Algorithm["reward"]["shaping"]): Algorithm => ({
  ...short,
  reward: { ...short.reward, shaping }
})

describe("a replay", () => {
  it.effect.each([
    ["as it is", short],
    ["with a KL term and validation", withKl],
    ["with instructions on the same questions", comparing],
    ["with shared samples", sharing],
    ["with steps sampled during updates", { ...short, train: { ...short.train, staleness: 1 } }],
    ["with further rounds and earlier successes", rescuing],
    ["with a loss that engines lack, in two passes", lacking],
    ["with a proposer whose prompt evolves", learning("evolving")],
    ["with a proposer that keeps lessons", learning("lessons")],
    ["with an agent that prunes its memory", { ...short, rollout: { ...short.rollout, agent: { name: "memory" } } }],
    ["with an agent that reflects", { ...short, rollout: { ...short.rollout, agent: { name: "reflect" } } }],
    ["with a judge of pairs", shaped({ name: "tournament", ...judged })],
    ["with a judge by rubrics", shaped({ name: "rubric", cap: 3, ...judged })],
    ["with a judge of key turns", credited({ name: "key-turns", gamma: 0.99, ...judged })],
    ["with credit by information", credited({ name: "information", beta: 0.5, temperature: 1, epsilon: 1e-6 })],
    ["with credit by evidence", credited({ name: "evidence", share: 0.4, floor: 0.9 })],
    ["with one instruction", { ...short, population: { ...short.population, size: 1 } }]
  ] as const)("of a run agrees with every event and every state: %s", ([, settings]) =>
    Effect.gen(function* () {
      const { run, state } = yield* record(settings)
      const again = yield* replayed(run)
      assert.strictEqual(again.difference, null)
      assert.strictEqual(again.events, run.entries.length)
      assert.deepStrictEqual(again.hashes, { equal: run.entries.length, other: 0 })
      assert.strictEqual(again.stateHash, yield* StateHash.of(state))
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect.prop(
    "shows the first event that was decided otherwise, and what differs in it",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 }))],
    ([step]) =>
      Effect.gen(function* () {
        const { run } = yield* record(short)
        const place = run.entries.findIndex(({ event }) => event._tag === "StepPlanned" && event.step === step + 1)
        const entries = run.entries.map(({ event, state }, index) => ({
          event: index === place && event._tag === "StepPlanned" ? { ...event, learningRate: 0.5 } : event,
          state
        }))
        const { difference, events } = yield* replayed({ ...run, entries })
        assert.strictEqual(events, place)
        assert.strictEqual(difference?.sequence, place)
        assert.strictEqual(difference?.path, "learningRate")
        assert.strictEqual(difference?.recorded, "0.5")
      }).pipe(Effect.provide(layerMemory, { local: true })),
    { arbitrary: { runs: 3 } }
  )

  it.effect("shows a state that came out otherwise, and none of another version", () =>
    Effect.gen(function* () {
      const { run } = yield* record(short)
      const altered = (state: string) => run.entries.map((entry, index) => (index === 5 ? { ...entry, state } : entry))
      const { difference } = yield* replayed({ ...run, entries: altered(`${StateHash.version}:0`) })
      assert.strictEqual(difference?.sequence, 5)
      assert.strictEqual(difference?.path, "state")
      const other = yield* replayed({ ...run, entries: altered("0:0") })
      assert.strictEqual(other.difference, null)
      assert.strictEqual(other.hashes.other, 1)
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect("repeats what failed", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const failing = Layer.succeed(Proposer, {
        initial: () => Effect.fail(new ProposerError({ proposer: "broken", reason: "no answer" })),
        propose: () => Effect.fail(new ProposerError({ proposer: "broken", reason: "no answer" }))
      })
      const settings = short
      const meddle = (search: Search.Interface): Search.Interface => ({
        search: (queries, topK) =>
          queries.some((query) => query.length % 3 === 0)
            ? Effect.fail(new SearchError({ operation: "search", reason: "it is down" }))
            : search.search(queries, topK)
      })
      yield* runOn(settings, Layer.succeed(Journal, journal), undefined, {
        proposer: failing,
        meddle,
        maxFailedShare: 1
      })
      const { data } = yield* make(settings)
      const entries = yield* EventLog.readEntries(journal)
      assert.isTrue(entries.some(({ event }) => event._tag === "PopulationInitialised" && event.failure !== undefined))
      assert.isTrue(entries.some(({ event }) => "failed" in event && event.failed?.reason !== undefined))
      assert.isNull((yield* replayed({ algorithm: settings, data, entries })).difference)
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect("finds a reply of a judge that is not on record", () =>
    Effect.gen(function* () {
      const { journal, run } = yield* record(shaped({ name: "tournament", ...judged }))
      const forgetful = Journal.of({
        ...journal,
        getRecords: (kind, keys) => (kind === "judge" ? Effect.succeed(new Map()) : journal.getRecords(kind, keys))
      })
      const { difference } = yield* replayed(run).pipe(Effect.provideService(Journal, forgetful))
      assert.strictEqual(difference?.event, "TrainingPlanned")
      assert.include(difference?.replayed ?? "", "the journal does not contain this reply")
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect("finds a rollout that is not on record", () =>
    Effect.gen(function* () {
      const { journal, run } = yield* record(short)
      const forgetful = Journal.of({ ...journal, getRecords: () => Effect.succeed(new Map()) })
      const { difference } = yield* replayed(run).pipe(Effect.provideService(Journal, forgetful))
      assert.strictEqual(difference?.event, "RolloutsCollected")
      assert.include(difference?.replayed ?? "", "is missing; expected a record of the journal")
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )
})
