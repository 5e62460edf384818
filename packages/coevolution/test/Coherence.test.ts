import { assert, describe, it } from "@effect/vitest"
import {
  EventLog,
  foldStored,
  makeDecisionContext,
  type Algorithm,
  type RunEvent,
  RunEvents,
  Strategies
} from "@inspo/coevolution"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Array as Arr, Effect, Layer, Result, Schema } from "effect"
import { algorithm, make, runOn, sharing } from "./support/ScriptedRun.ts"

const recorded = (settings: Algorithm) =>
  Effect.gen(function* () {
    const journal = yield* Journal
    yield* runOn(settings, Layer.succeed(Journal, journal))
    const { data } = yield* make(settings)
    return { events: yield* EventLog.read(journal), context: makeDecisionContext(Strategies.deciding(settings), data) }
  }).pipe(Effect.provide(layerMemory, { local: true }))

const validating: Algorithm = { ...sharing, evaluation: { ...sharing.evaluation, every: 2 } }

/** Those of which there may be one more or one less: a cell of the final table. */
const isRepeatable = ({ _tag }: RunEvent) => _tag === "Evaluated"

describe("a journal that is not of one piece", () => {
  it.effect.each([
    ["verification of its own", algorithm],
    ["verification in the groups of steps, and validation", validating]
  ] as const)("is refused, with the event that does not follow: %s", ([, settings]) =>
    Effect.gen(function* () {
      const { events, context } = yield* recorded(settings)
      assert.strictEqual((yield* foldStored(context, events)).phase._tag, "Finished")
      for (const [place, event] of events.entries()) {
        if (isRepeatable(event)) continue
        const twice = [...events.slice(0, place + 1), ...events.slice(place)]
        const without = events.toSpliced(place, 1)
        for (const some of [twice, ...(place < events.length - 1 ? [without] : [])]) {
          const folded = yield* Effect.result(foldStored(context, some))
          if (Result.isSuccess(folded))
            assert.fail(`event ${place}, ${event._tag}, may come ${some.length - events.length}`)
          assert.strictEqual(folded.failure._tag, "IncoherentJournal")
          assert.isAtLeast(folded.failure.sequence, place)
        }
      }
    })
  )

  it.effect("is refused by a run that would go on with it", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const { events } = yield* recorded(algorithm)
      const { data } = yield* make(algorithm)
      const context = makeDecisionContext(Strategies.deciding(algorithm), data)
      const kept = events.slice(0, 12).filter(({ _tag }) => _tag !== "RolloutsCollected")
      const state = yield* foldStored(context, events.slice(0, 1))
      yield* Effect.forEach(kept, (event) => EventLog.append(journal, event, state))
      const failure = yield* Effect.flip(runOn(algorithm, Layer.succeed(Journal, journal)))
      assert.match(failure.message, /event \d+, TrainingPlanned, .* before Collect.*Restore the journal/u)
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )
})

describe("an event", () => {
  const decodes = Schema.is(RunEvents.RunEvent)

  it.effect("with a reward, an instruction or a score short is none", () =>
    Effect.gen(function* () {
      const { events } = yield* recorded(algorithm)
      assert.isTrue(events.every(decodes))
      let checked = 0
      for (const event of events) {
        if (event._tag === "RolloutsCollected") {
          const [first = assert.fail(), ...others] = event.groups
          for (const field of ["rewards", "trajectories", "toolCalls", "responseTokens"] as const)
            assert.isFalse(decodes({ ...event, groups: [{ ...first, [field]: first[field].slice(1) }, ...others] }))
          checked++
        }
        if (event._tag === "StepPlanned") assert.isFalse(decodes({ ...event, assignment: event.assignment.slice(1) }))
        if (event._tag === "CandidatesVerified" && Arr.isReadonlyArrayNonEmpty(event.candidates))
          assert.isFalse(decodes({ ...event, candidates: event.candidates.map((scores) => [...scores, 1]) }))
      }
      assert.isAbove(checked, 0)
    })
  )
})

describe("a trajectory that an event names", () => {
  it.effect("is missed by name when its record is gone", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const forgetful = Journal.of({
        ...journal,
        getRecords: (kind, keys) =>
          Effect.map(
            journal.getRecords(kind, keys),
            (records) => new Map([...records].filter(([key]) => kind !== "trajectory" || !key.startsWith("train/")))
          )
      })
      const failure = yield* Effect.flip(runOn(algorithm, Layer.succeed(Journal, forgetful)))
      assert.strictEqual(failure._tag, "JournalError")
      assert.match(failure.message, /trajectory train\/.* is not in the records/u)
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect("is missed by name when the engine leaves a response of the reference unscored", () =>
    Effect.gen(function* () {
      const settings: Algorithm = {
        ...algorithm,
        train: { ...algorithm.train, kl: { name: "advantages", coefficient: 0.1 } }
      }
      const failure = yield* Effect.flip(
        runOn(settings, layerMemory, undefined, {
          engine: (engine) => ({
            ...engine,
            score: (policy, sequences) => Effect.map(engine.score(policy, sequences), (all) => all.slice(1))
          })
        })
      )
      assert.match(failure.message, /train\/\d+\/0, expected a log-probability for each token/u)
    })
  )
})
