import { assert, describe, it } from "@effect/vitest"
import { EventLog, fold, makeDecisionContext, type RunEvent, RunState, Strategies } from "@inspo/coevolution"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Effect, Fiber, Layer, Schema, Tracer } from "effect"
import { algorithm, historyOf, make, runOn } from "./support/ScriptedRun.ts"

/** Positions of the events with these tags. */
const positions = (events: ReadonlyArray<RunEvent>, tag: RunEvent["_tag"]) =>
  events.flatMap((event, index) => (event._tag === tag ? [index] : []))

describe("run", () => {
  it.effect("commits intent before work, step by step, and ends", () =>
    Effect.gen(function* () {
      const { events, state } = yield* historyOf(algorithm)
      assert.strictEqual(events[0]?._tag, "RunStarted")
      assert.strictEqual(events.at(-1)?._tag, "RunFinished")
      assert.strictEqual(state.step, algorithm.schedule.steps)
      const order = (["StepPlanned", "RolloutsCollected", "TrainingPlanned", "StepTrained"] as const).map((tag) =>
        positions(events, tag)
      )
      for (const places of order) assert.strictEqual(places.length, algorithm.schedule.steps)
      for (let step = 0; step < algorithm.schedule.steps; step++) {
        const places = order.map((of) => of[step] ?? NaN)
        assert.deepStrictEqual(
          places,
          places.toSorted((a, b) => a - b)
        )
      }
    })
  )

  it.effect("traces what it performs under the step and phase of its state, and rollouts with their number", () =>
    Effect.gen(function* () {
      const spans: Array<Tracer.NativeSpan> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      const { events } = yield* Effect.withTracer(historyOf(algorithm), tracer)
      const stepsOf = (name: string) =>
        spans.filter((span) => span.name === name).map(({ attributes }) => attributes.get("completedSteps"))
      const expected = Array.from({ length: algorithm.schedule.steps }, (_, index) => index)
      assert.deepStrictEqual(stepsOf("Perform.train"), expected)
      const performed = spans.filter(({ name }) => name.startsWith("Perform."))
      for (const { attributes, name } of performed) assert.isString(attributes.get("phase"), name)
      const rollouts = spans.filter(({ name }) => name === "Rollout.collect")
      assert.isAtLeast(rollouts.length, positions(events, "RolloutsCollected").length)
      for (const { attributes } of rollouts) assert.isNumber(attributes.get("episodes"))
    })
  )

  it.effect("reports an event when the journal holds it, never before", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      let told = 0
      yield* runOn(algorithm, Layer.succeed(Journal, journal), () =>
        Effect.gen(function* () {
          told++
          const stored = yield* Effect.orDie(journal.readFrom(told - 1))
          assert.lengthOf(stored, 1, `event ${told - 1}`)
        })
      )
      assert.isAbove(told, algorithm.schedule.steps)
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect("gives every newcomer an id of its own, a generation after its parent's", () =>
    Effect.gen(function* () {
      const { events, state } = yield* historyOf(algorithm)
      const born = new Map(state.instructions.map((instruction) => [instruction.id, instruction]))
      assert.strictEqual(born.size, state.instructions.length)
      const newcomers = events.flatMap((event) =>
        event._tag === "PopulationRefilled" ? event.accepted.map(({ instruction }) => instruction) : []
      )
      assert.isNotEmpty(newcomers)
      assert.isTrue(newcomers.every(({ parent }) => parent !== null))
      for (const { generation, parent } of newcomers)
        assert.strictEqual(generation, 1 + (born.get(parent ?? RunState.instructionId(0))?.generation ?? NaN))
    })
  )

  it.effect("gives the same events twice, and other events for another seed", () =>
    Effect.gen(function* () {
      const [a, b, other] = yield* Effect.all([
        historyOf(algorithm),
        historyOf(algorithm),
        historyOf({ ...algorithm, randomSeed: 4 })
      ])
      assert.deepStrictEqual(a.events, b.events)
      assert.notDeepEqual(a.events.slice(1), other.events.slice(1))
    })
  )

  it.effect("keeps the population between parents and size, and each refill within its places", () =>
    Effect.gen(function* () {
      const { data } = yield* make(algorithm)
      const { events } = yield* historyOf(algorithm)
      const context = makeDecisionContext(Strategies.deciding(algorithm), data)
      events.forEach((_, index) => {
        const { members } = fold(context, events.slice(0, index + 1)).population
        if (index > 0) {
          assert.isAtLeast(members.length, algorithm.population.parents)
          assert.isAtMost(members.length, algorithm.population.size)
        }
      })
      assert.isAtLeast(positions(events, "PopulationRefilled").length, 1)
      assert.isAtLeast(positions(events, "Pruned").length, 1)
    })
  )

  it.effect("counts every rollout once", () =>
    Effect.gen(function* () {
      const { events, state } = yield* historyOf(algorithm)
      const { batchSize } = algorithm.train
      assert.strictEqual(state.spent.rollouts.train, algorithm.schedule.steps * batchSize * algorithm.rollout.groupSize)
      assert.strictEqual(
        state.spent.rollouts.verification,
        events.reduce((sum, event) => sum + (event._tag === "CandidatesVerified" ? event.rollouts : 0), 0)
      )
      assert.strictEqual(
        state.spent.rollouts.evaluation,
        state.evaluations.reduce((sum, { groups }) => sum + groups.length, 0)
      )
    })
  )

  it.effect("fills the final table: both policies, seed and best instruction", () =>
    Effect.gen(function* () {
      const { state } = yield* historyOf(algorithm)
      const best = state.phase._tag === "Finished" ? state.phase.best : null
      const cells = new Set(state.evaluations.map(({ instruction, policy }) => `${policy} ${instruction}`))
      assert.deepStrictEqual(cells, new Set(["before", "after"].flatMap((p) => [`${p} i0`, `${p} ${best}`])))
    })
  )

  it.effect.prop(
    "continues after a stop anywhere as if it had not stopped",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 80 }))],
    ([stopAfter]) =>
      Effect.gen(function* () {
        const whole = yield* historyOf(algorithm)
        const journal = yield* Journal
        let committed = 0
        const stopped = yield* runOn(algorithm, Layer.succeed(Journal, journal), () =>
          ++committed > stopAfter ? Effect.interrupt : Effect.void
        ).pipe(Effect.forkChild, Effect.flatMap(Fiber.await))
        assert.strictEqual(stopped._tag, stopAfter >= whole.events.length ? "Success" : "Failure")
        yield* runOn(algorithm, Layer.succeed(Journal, journal))
        assert.deepStrictEqual(yield* EventLog.read(journal), whole.events)
      }).pipe(Effect.provide(layerMemory, { local: true })),
    { arbitrary: { runs: 12 } }
  )

  it.effect("trains nothing before train.fromStep", () =>
    Effect.gen(function* () {
      const { events } = yield* historyOf({ ...algorithm, train: { ...algorithm.train, fromStep: 6 } })
      const trained = events.flatMap((event) =>
        event._tag === "StepTrained" && event.metrics.length > 0 ? [event.step] : []
      )
      assert.deepStrictEqual(trained, [6, 7, 8, 9])
    })
  )

  it.effect("stays a plain GRPO run with one instruction", () =>
    Effect.gen(function* () {
      const { events, state } = yield* historyOf({ ...algorithm, population: { ...algorithm.population, size: 1 } })
      assert.deepStrictEqual(positions(events, "Pruned"), [])
      assert.deepStrictEqual(positions(events, "CandidatesProposed"), [])
      assert.deepStrictEqual(
        state.instructions.map(({ id }) => id),
        [RunState.instructionId(0)]
      )
    })
  )

  it.effect("lets no true credit through when credit is permuted, yet trains on true rewards", () =>
    Effect.gen(function* () {
      const plain = yield* historyOf(algorithm)
      const permuted = yield* historyOf({ ...algorithm, control: { ...algorithm.control, permuteCredit: true } })
      const first = (events: ReadonlyArray<RunEvent>) => events.find((event) => event._tag === "RolloutsCollected")
      assert.deepStrictEqual(first(plain.events), first(permuted.events))
      assert.notDeepEqual(plain.events.slice(1), permuted.events.slice(1))
    })
  )
})
