import { assert, describe, it } from "@effect/vitest"
import { EventLog, type Algorithm } from "@inspo/coevolution"
import { Ledger } from "@inspo/ledger"
import type { Group } from "@inspo/domain"
import type { Engine } from "@inspo/engine"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Effect, Exit, Layer, Predicate } from "effect"
import { algorithm as base, make, runOn } from "./support/ScriptedRun.ts"

const algorithm: Algorithm = { ...base, evaluation: { ...base.evaluation, every: 2 } }

const onJournal = (journal: Journal.Interface) => Layer.succeed(Journal, journal)

/** A stored trajectory with other log-probabilities. */
const disturbed = (value: unknown): unknown =>
  Predicate.hasProperty(value, "logprobs") && Array.isArray(value.logprobs)
    ? { ...value, logprobs: value.logprobs.map((one) => (typeof one === "number" && one < 0 ? one / 2 : one)) }
    : value

/** A journal that gives other trajectories than it got. */
const disturbing = (journal: Journal.Interface): Journal.Interface => ({
  ...journal,
  getRecords: (kind, keys) =>
    Effect.map(journal.getRecords(kind, keys), (records) => {
      const changed = [...records].map(([key, value]) => [key, JSON.parse(JSON.stringify(disturbed(value)))] as const)
      return new Map(changed)
    })
})

describe("Perform", () => {
  it.effect("asks training questions in training and verification, and each other question for its purpose alone", () =>
    Effect.gen(function* () {
      const { data } = yield* make(algorithm)
      const journal = yield* Journal
      yield* runOn(algorithm, onJournal(journal))
      const ids = (of: "train" | "validation" | "test") => data[of].map(({ id }) => id)
      const asked = (groups: ReadonlyArray<Group.Group>) => groups.map(({ questionId }) => questionId)
      const seen = new Set<string>()
      for (const event of yield* EventLog.read(journal)) {
        seen.add(event._tag)
        if (event._tag === "RolloutsCollected") assert.includeMembers(ids("train"), asked(event.groups))
        if (event._tag === "CandidatesVerified") assert.includeMembers(ids("train"), [...event.questions])
        if (event._tag === "Validated") assert.includeMembers(ids("validation"), asked(event.groups))
        if (event._tag === "Evaluated") assert.includeMembers(ids("test"), asked(event.groups))
      }
      assert.containsAllKeys(Object.fromEntries([...seen].map((tag) => [tag, true])), [
        "RolloutsCollected",
        "CandidatesVerified",
        "Validated",
        "Evaluated"
      ])
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect("trains no batch but the one that was planned", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      yield* Effect.exit(
        runOn(algorithm, onJournal(journal), (event) =>
          event._tag === "TrainingPlanned" ? Effect.interrupt : Effect.void
        )
      )
      const planned = yield* EventLog.read(journal)
      assert.strictEqual(planned.at(-1)?._tag, "TrainingPlanned")
      let updates = 0
      const counting = (engine: Engine.Interface): Engine.Interface => ({
        ...engine,
        train: (request) => Effect.suspend(() => (updates++, engine.train(request)))
      })
      const error = yield* Effect.flip(
        runOn(algorithm, onJournal(disturbing(journal)), undefined, { engine: counting })
      )
      assert.strictEqual(error._tag, "RunMismatch")
      assert.include(error.message, "differs from the planned one")
      assert.strictEqual(updates, 0)
      assert.deepStrictEqual(yield* EventLog.read(journal), planned)
      yield* runOn(algorithm, onJournal(journal), undefined, { engine: counting })
      assert.isAbove(updates, 0)
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect("overspends a budget of tokens by no more than is in flight", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const inFlight = 2
      const exit = yield* Effect.exit(
        runOn(algorithm, onJournal(journal), undefined, {
          budget: { ...Ledger.unlimited, tokens: 1 },
          engine: (engine) => ({ ...engine, profile: { ...engine.profile, concurrency: inFlight } })
        })
      )
      assert.isTrue(Exit.isFailure(exit))
      assert.strictEqual(Ledger.summarize(yield* journal.ledger).total.rollouts, inFlight)
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )
})
