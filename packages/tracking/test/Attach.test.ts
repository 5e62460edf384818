import { assert, describe, it } from "@effect/vitest"
import { Attach, type Point, Tracker } from "@inspo/tracking"
import { Deferred, Effect, Fiber, Metric, Ref } from "effect"
import { TestClock } from "effect/testing"

const run = { name: "mine", settings: {} }
const point = (step: number): Point.Point => ({ step, samples: [] })

/** A tracker that keeps what it is told; `log` may refuse or never answer. */
const recorder = Effect.gen(function* () {
  const told = yield* Ref.make<ReadonlyArray<string>>([])
  const tell = (what: string) => Ref.update(told, (known) => [...known, what])
  const tracker: Tracker.Interface = {
    begin: (_, past) => tell(`begin ${past.length}`),
    log: ({ step }) => tell(`step ${step}`),
    end: (outcome) => tell(outcome)
  }
  return { told, tracker }
})

const refusal = new Tracker.TrackerError({ tracker: "mine", reason: "it is away" })

/** Attaches a tracker, logs the steps and closes the scope, as a run does. */
const attached = Effect.fnUntraced(function* (
  make: Effect.Effect<Tracker.Interface, Tracker.TrackerError>,
  steps: ReadonlyArray<number>,
  end: Effect.Effect<void, string> = Effect.void
) {
  const warnings = yield* Ref.make<ReadonlyArray<string>>([])
  const warn = (message: string) => Ref.update(warnings, (known) => [...known, message])
  const exit = yield* Effect.gen(function* () {
    const log = yield* Attach.attach({ name: "mine", make, run, past: [point(1)], warn })
    yield* Effect.forEach(steps, (step) => log(point(step)))
    yield* end
  }).pipe(Effect.scoped, Effect.exit)
  return { exit, warnings: yield* Ref.get(warnings) }
})

describe("attach", () => {
  it.effect("tells everything in order, and how the run ended", () =>
    Effect.gen(function* () {
      for (const [end, outcome] of [
        [Effect.void, "finished"],
        [Effect.fail("no"), "failed"],
        [Effect.die("no"), "failed"],
        [Effect.interrupt, "stopped"]
      ] as const) {
        const { told, tracker } = yield* recorder
        const { warnings } = yield* attached(Effect.succeed(tracker), [2, 3, 4], end)
        assert.deepStrictEqual(yield* Ref.get(told), ["begin 1", "step 2", "step 3", "step 4", outcome])
        assert.deepStrictEqual(warnings, [])
      }
    })
  )

  it.effect("warns once of a tracker that refuses, counts every time, and lets the run continue", () =>
    Effect.gen(function* () {
      const { told, tracker } = yield* recorder
      const refusing: Tracker.Interface = {
        ...tracker,
        log: (one) => (one.step % 2 === 0 ? Effect.fail(refusal) : tracker.log(one))
      }
      const { exit, warnings } = yield* attached(Effect.succeed(refusing), [2, 3, 4])
      assert.strictEqual(exit._tag, "Success")
      assert.deepStrictEqual(yield* Ref.get(told), ["begin 1", "step 3", "finished"])
      assert.deepStrictEqual(warnings, [
        "Tracking: mine: it is away. The run continues without it.",
        "Tracking: mine missed 2 of 3 points of this session."
      ])
      const counted = (yield* Metric.snapshot).filter(({ id }) => id === "inspo.tracking.failures")
      assert.deepStrictEqual(
        counted.map(({ attributes, state }) => ({ attributes, state })),
        [{ attributes: { tracker: "mine" }, state: { count: 2, incremental: true } }]
      )
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.effect("survives a tracker that cannot be opened, or is broken itself", () =>
    Effect.gen(function* () {
      for (const make of [Effect.fail(refusal), Effect.die(new Error("a fault"))]) {
        const { exit, warnings } = yield* attached(make, [2, 3])
        assert.strictEqual(exit._tag, "Success")
        assert.strictEqual(warnings.length, 2)
        assert.include(warnings[1], "missed 2 of 2")
      }
    })
  )

  it.effect("waits for a tracker that hangs as long as it says, and not before the end", () =>
    Effect.gen(function* () {
      const { tracker } = yield* recorder
      const logged = yield* Deferred.make<void>()
      const hanging: Tracker.Interface = { ...tracker, log: () => Effect.never }
      const running = yield* Effect.forkChild(
        attached(Effect.succeed(hanging), [2, 3], Deferred.succeed(logged, undefined))
      )
      yield* Deferred.await(logged)
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(running.pollUnsafe())
      yield* TestClock.adjust("2 seconds")
      const { exit, warnings } = yield* Fiber.join(running)
      assert.strictEqual(exit._tag, "Success")
      assert.deepStrictEqual(warnings, ["Tracking: mine missed 2 of 2 points of this session."])
    })
  )
})
