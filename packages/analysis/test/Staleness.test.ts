import { assert, describe, it } from "@effect/vitest"
import { Projection, DryRun } from "@inspo/analysis"
import { type Algorithm, EventLog, type RunEvent, RunEvents, Strategies, TrainConfig, apply } from "@inspo/coevolution"
import type { Engine, TrainRequest } from "@inspo/engine"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Deferred, Effect, Layer, Schema } from "effect"
import { algorithm as base, comparing, runOn } from "../../coevolution/test/support/ScriptedRun.ts"
import { trainQuestions } from "./support/SyntheticLog.ts"

const stale = (settings: Algorithm, staleness: 0 | 1): Algorithm => ({
  ...settings,
  train: { ...settings.train, staleness }
})

const Every = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 6 }))
const Schedules = Schema.Struct({
  pruneEvery: Every,
  evolveEvery: Every,
  checkpointEvery: Every,
  validateEvery: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 6 })),
  fromStep: Every,
  policyFirst: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 6, maximum: 12 })))
})

const settingsOf = (schedule: typeof Schedules.Type): Algorithm => ({
  ...comparing,
  schedule: { ...comparing.schedule, steps: 12, evolveUntil: null, ...schedule },
  train: { ...comparing.train, fromStep: schedule.fromStep },
  checkpoint: { ...comparing.checkpoint, every: schedule.checkpointEvery },
  evaluation: { ...comparing.evaluation, every: schedule.validateEvery },
  control: { ...comparing.control, policyFirst: schedule.policyFirst }
})

const sparse: typeof Schedules.Type = {
  pruneEvery: 5,
  evolveEvery: 5,
  checkpointEvery: 4,
  validateEvery: 0,
  fromStep: 2,
  policyFirst: null
}

/** The moves of a run whose rewards do not depend on the policy. */
const moves = (algorithm: Algorithm): ReadonlyArray<DryRun.Move> => {
  const context = { ...Strategies.deciding(algorithm), questions: trainQuestions(40) }
  return [...DryRun.play(context, DryRun.begun(context), DryRun.scripted(context, { validation: 4, test: 4 }))]
}

const isPlan = (event: RunEvent) => event._tag === "StepPlanned"

/** The events with each plan at the place that it has without staleness. */
const inOrder = (events: ReadonlyArray<RunEvent>): ReadonlyArray<RunEvent> => {
  const ahead = new Map(
    events.flatMap((event) => (isPlan(event) && event.policy !== undefined ? [[event.step, event]] : []))
  )
  return events.flatMap((event) => {
    if (isPlan(event) && event.policy !== undefined) return []
    const plan = event._tag === "StepTrained" ? ahead.get(event.step + 1) : undefined
    if (plan === undefined) return [event]
    const { policy: _, ...rest } = plan
    return [event, rest]
  })
}

const eventsOf = (all: ReadonlyArray<DryRun.Move>) => all.map(({ event }) => event)

describe("staleness 1", { tags: "deep" }, () => {
  it.prop(
    "a plan lacks one update where a training step directly follows another one, and none elsewhere",
    [Schedules],
    ([schedule]) => {
      const settings = settingsOf(schedule)
      const waiting = eventsOf(moves(stale(settings, 0)))
      const trains = new Set(waiting.flatMap((event) => (event._tag === "TrainingPlanned" ? [event.step] : [])))
      const direct = new Set(
        waiting.flatMap((event, at) =>
          isPlan(event) &&
          waiting[at - 1]?._tag === "StepTrained" &&
          trains.has(event.step - 1) &&
          trains.has(event.step)
            ? [event.step]
            : []
        )
      )
      for (const { before, event } of moves(stale(settings, 1))) {
        if (!isPlan(event)) continue
        const policy = event.policy ?? event.step - 1
        assert.strictEqual(policy, before.step, "the policy of now samples")
        assert.strictEqual(event.step - 1 - policy, direct.has(event.step) ? 1 : 0)
      }
    }
  )

  it.prop("for equal rewards the decisions are those of staleness 0", [Schedules], ([schedule]) => {
    const settings = settingsOf(schedule)
    assert.deepStrictEqual(inOrder(eventsOf(moves(stale(settings, 1)))), eventsOf(moves(stale(settings, 0))))
  })

  it.prop("where something follows every step, the events are those of staleness 0", [Schedules], ([schedule]) => {
    const settings = settingsOf({ ...schedule, checkpointEvery: 1 })
    assert.deepStrictEqual(eventsOf(moves(stale(settings, 1))), eventsOf(moves(stale(settings, 0))))
  })

  it("plans ahead each step that trains and follows another without pruning, evolution, validation or checkpoint", () => {
    const ahead = eventsOf(moves(stale(settingsOf(sparse), 1))).flatMap((event) =>
      isPlan(event) && event.policy !== undefined ? [event.step] : []
    )
    assert.deepStrictEqual(ahead, [3, 4, 7, 8, 10, 12])
  })
})

describe("the journal", () => {
  it.effect("is the same with staleness 0 as before that setting existed, and holds staleness 1", () =>
    Effect.gen(function* () {
      for (const staleness of [0, 1] as const) {
        const encoded = yield* Schema.encodeEffect(TrainConfig)(stale(base, staleness).train)
        assert.strictEqual("staleness" in encoded, staleness === 1)
        assert.deepStrictEqual(yield* Schema.decodeEffect(TrainConfig)(encoded), stale(base, staleness).train)
      }
    })
  )

  it("has no plan of a policy that lacks more than one update, or another one than the policy of now", () => {
    const all = moves(stale(settingsOf(sparse), 1))
    const ahead = all.find(({ event }) => isPlan(event) && event.policy !== undefined)
    if (ahead === undefined || !isPlan(ahead.event)) return assert.fail("no step is planned ahead")
    const { before, event } = ahead
    const settings = { algorithm: stale(settingsOf(sparse), 1) }
    const isPlanned = Schema.is(RunEvents.StepPlanned)
    assert.isTrue(isPlanned(event))
    for (const policy of [event.step - 3, event.step - 1, event.step]) assert.isFalse(isPlanned({ ...event, policy }))
    assert.throws(
      () => apply(settings, before, { ...event, step: event.step + 1, policy: event.step - 1 }),
      /cannot happen/u
    )
    const { policy: _, ...later } = event
    assert.throws(() => apply(settings, before, later), /cannot happen/u)
    const planning = all.find((move) => isPlan(move.event) && move.event.policy === undefined)
    assert.throws(() => apply(settings, planning?.before ?? before, { ...event, step: 2, policy: 0 }), /cannot happen/u)
  })
})

/** Steps of which few are followed by anything else. */
const long: Algorithm = {
  ...base,
  schedule: { ...base.schedule, steps: 24, pruneEvery: 12, evolveEvery: 0 },
  checkpoint: { every: 12, keep: 1 },
  train: { ...base.train, staleness: 1 }
}

/** A log-probability that tells which policy, by its number of updates, sampled a token. */
const logprobOf = (updates: number): number => -1 - updates / 1024

/** An engine whose policies are numbered; each update reports the ratios to the sampling policy. */
const numbered = (
  engine: Engine.Interface,
  report: (request: TrainRequest, updates: number) => void
): Engine.Interface => {
  let updates = 0
  let held: number | null = null
  return {
    ...engine,
    sample: (requests) =>
      Effect.map(engine.sample(requests), (results) =>
        results.map(({ sequences }) => ({
          sequences: sequences.map((one) => ({ ...one, logprobs: one.logprobs.map(() => logprobOf(held ?? updates)) }))
        }))
      ),
    train: (request) =>
      Effect.tap(engine.train(request), () =>
        Effect.sync(() => {
          report(request, updates)
          updates += 1
        })
      ),
    hold: Effect.acquireRelease(
      Effect.sync(() => void (held = updates)),
      () => Effect.sync(() => void (held = null))
    )
  }
}

describe("a run with staleness 1", () => {
  it.effect(
    "trains on log-probabilities of the policy that its plan names; they give ratio 1 where it did not change",
    () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const trained: Array<{
          readonly step: number
          readonly ratios: ReadonlySet<number>
          readonly updates: number
        }> = []
        yield* runOn(long, Layer.succeed(Journal, journal), undefined, {
          engine: (engine) =>
            numbered(engine, ({ datums, key }, updates) => {
              const ratios = datums.flatMap(({ logprobs, weights }) =>
                logprobs.flatMap((logprob, at) => (weights[at] === 0 ? [] : [Math.exp(logprobOf(updates) - logprob)]))
              )
              trained.push({ step: Number(key.split("/")[1]), ratios: new Set(ratios), updates })
            })
        })
        const plans = (yield* EventLog.read(journal)).filter(isPlan)
        /** The number of updates up to a step. */
        const updatesTo = (step: number) => trained.filter((one) => one.step <= step).length
        const seen = { equal: 0, other: 0 }
        for (const { ratios, step, updates } of trained) {
          const plan = plans.find((one) => one.step === step)
          const sampledBy = updatesTo(plan?.policy ?? step - 1)
          assert.deepStrictEqual([...ratios], [Math.exp(logprobOf(updates) - logprobOf(sampledBy))])
          if (updates === sampledBy) assert.deepStrictEqual([...ratios], [1])
          seen[updates === sampledBy ? "equal" : "other"] += 1
        }
        assert.isAbove(seen.equal, 0)
        assert.isAbove(seen.other, 0)
      }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect("has one metrics row for each step, with its own plan", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      yield* runOn(long, Layer.succeed(Journal, journal))
      const events = yield* EventLog.read(journal)
      assert.deepStrictEqual(
        Projection.metrics({ algorithm: long }, events).map(({ lr, step }) => [step, lr]),
        events.filter(isPlan).map(({ learningRate, step }) => [step, learningRate])
      )
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect("takes at most 1 / 1.7 of the time where sampling and training take equal time", () =>
    Effect.gen(function* () {
      const waiting = yield* timeOf(stale(long, 0))
      const overlapping = yield* timeOf(stale(long, 1))
      assert.isAtLeast(waiting / overlapping, 1.7)
    })
  )
})

/** The virtual time of a run whose steps sample and train for equally long: time passes when all that can work is at work. */
const timeOf = Effect.fnUntraced(function* (settings: Algorithm) {
  const step = 12
  let now = 0
  let working: ReadonlyArray<{ readonly until: number; readonly done: Deferred.Deferred<void> }> = []
  /** The calls that are still to come from the step that trains, and from the one that is sampled. */
  const left = { train: 0, sample: 0 }
  let holding = false
  const atWork = () => (holding ? Math.sign(left.train) + Math.sign(left.sample) : 1)
  const proceed = Effect.suspend(() => {
    if (working.length < atWork()) return Effect.void
    const [first] = working.toSorted((a, b) => a.until - b.until)
    if (first === undefined) return Effect.void
    now = first.until
    working = working.filter((one) => one !== first)
    return Effect.asVoid(Deferred.succeed(first.done, undefined))
  })
  const work = (kind: keyof typeof left, duration: number) =>
    Effect.gen(function* () {
      const done = yield* Deferred.make<void>()
      working = [...working, { until: now + duration, done }]
      yield* proceed
      yield* Deferred.await(done)
      left[kind] -= 1
      // The other side may have waited for this one.
      yield* proceed
    })
  let updates = 1
  yield* runOn(
    settings,
    layerMemory,
    (event) =>
      Effect.sync(() => {
        if (event._tag !== "TrainingPlanned") return
        updates = event.miniBatches
        left.train = updates
        left.sample = turns
      }),
    {
      engine: (engine) => ({
        ...engine,
        sample: (requests) => Effect.andThen(work("sample", step / turns), engine.sample(requests)),
        train: (request) => Effect.andThen(work("train", step / updates), engine.train(request)),
        hold: Effect.acquireRelease(
          Effect.sync(() => void (holding = true)),
          () => Effect.sync(() => void (holding = false))
        )
      })
    }
  )
  return now
})

/** The policy of the DryRun.scripted run searches, then answers. */
const turns = 2
