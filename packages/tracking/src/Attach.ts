import { Cause, Deferred, Effect, type Exit, Fiber, Metric, Queue, Ref, type Scope, Stream } from "effect"
import type { Point } from "./Point.ts"
import type { Interface, Outcome, Run, TrackerError } from "./Tracker.ts"

export interface Options<R> {
  readonly name: string
  readonly make: Effect.Effect<Interface, TrackerError, R>
  readonly run: Run
  /** What earlier sessions of the run measured. */
  readonly past: ReadonlyArray<Point>
  /** Runs when the tracker first fails, and at the end with what it missed; at most once each. */
  readonly warn: (message: string) => Effect.Effect<void>
}

/** Hands a point to a tracker; never fails and never waits. */
export type Log = (point: Point) => Effect.Effect<void>

/** How long a tracker may continue after the run, to get what still waits. */
export const closeTimeout = "10 seconds"

/**
 * Keeps a tracker informed of a run for as long as the scope lives, from a fiber of its own: one that is slow, refuses or is
 * away neither delays nor fails the run. Its failures are counted in the metric `inspo.tracking.failures`. When the scope
 * closes the tracker has {@link closeTimeout} to take what still waits, and learns how the scope ended.
 */
export const attach = Effect.fn("Attach.attach")(function* <R>(
  options: Options<R>
): Effect.fn.Return<Log, never, Exclude<R, Scope.Scope> | Scope.Scope> {
  const { make, name, run, warn } = options
  // Released once it is handed over, since it grows with the run.
  const past = yield* Ref.make(options.past)
  const queue = yield* Queue.dropping<Point, Cause.Done>(mostWaiting)
  const outcome = yield* Deferred.make<Outcome>()
  const offered = yield* Ref.make(0)
  const taken = yield* Ref.make(0)
  const isWarned = yield* Ref.make(false)

  const failed = Effect.fnUntraced(function* (problem: string) {
    yield* Metric.update(failures, 1).pipe(Effect.provideService(Metric.CurrentMetricAttributes, { tracker: name }))
    if (!(yield* Ref.getAndSet(isWarned, true))) yield* warn(`Tracking: ${problem}. The run continues without it.`)
  })
  const guard = <A, R2>(work: Effect.Effect<A, TrackerError, R2>) =>
    Effect.catchCauseIf(
      work,
      (cause) => !Cause.hasInterrupts(cause),
      (cause) => failed(problemOf(name, cause))
    )

  const work = Effect.gen(function* () {
    const tracker = yield* make
    yield* tracker.begin(run, yield* Ref.getAndSet(past, []))
    yield* Stream.runForEach(Stream.fromQueue(queue), (point) =>
      guard(Effect.andThen(tracker.log(point), Ref.update(taken, increment)))
    )
    yield* tracker.end(yield* Deferred.await(outcome))
  })
  const worker = yield* Effect.forkScoped(guard(Effect.scoped(work)))

  yield* Effect.addFinalizer(
    Effect.fnUntraced(function* (exit) {
      yield* Deferred.succeed(outcome, outcomeOf(exit))
      yield* Queue.end(queue)
      yield* Effect.timeoutOption(Effect.interruptible(Fiber.await(worker)), closeTimeout)
      const missed = (yield* Ref.get(offered)) - (yield* Ref.get(taken))
      if (missed > 0)
        yield* warn(`Tracking: ${name} missed ${missed} of ${yield* Ref.get(offered)} points of this session.`)
    })
  )
  return (point) => Effect.andThen(Ref.update(offered, increment), Queue.offer(queue, point))
})

/** Points that wait at most; a tracker that is further behind misses the next ones. */
const mostWaiting = 10_000

const failures = Metric.counter("inspo.tracking.failures", {
  description: "Times that a tracker could not take something",
  incremental: true
})

const increment = (count: number): number => count + 1

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): Outcome =>
  exit._tag === "Success" ? "finished" : Cause.hasInterruptsOnly(exit.cause) ? "stopped" : "failed"

/** A fault of the tracker's own code is reported like any other. */
const problemOf = (name: string, cause: Cause.Cause<TrackerError>): string => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error.message : `${name}: ${String(error)}`
}
