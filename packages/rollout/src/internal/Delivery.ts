import type { Trajectory } from "@inspo/domain"
import { Array, type Cause, Effect, Exit, type Queue, Stream } from "effect"
import type { FinishedEpisode } from "./Scoring.ts"

export interface Options<E> {
  readonly score: (finished: FinishedEpisode) => Effect.Effect<Trajectory.Trajectory>
  /** Gets every trajectory once, within half a second, also before a delivery fails. It never runs concurrently. */
  readonly onFinished: (finished: ReadonlyArray<Trajectory.Trajectory>) => Effect.Effect<void, E>
  /** Runs when scoring throws. */
  readonly onDefect: Effect.Effect<unknown>
}

/** Trajectories are delivered in batches, since each delivery costs a commit. */
const together = 256
const within = "500 millis"

/**
 * Scores finished episodes and hands them over until the queue ends. Returns the trajectories by their index, or the exception of
 * scoring, after all others are handed over.
 */
export const run = Effect.fnUntraced(function* <E>(
  finished: Queue.Dequeue<FinishedEpisode, Cause.Done>,
  { onDefect, onFinished, score }: Options<E>
) {
  const trajectories = new Map<number, Trajectory.Trajectory>()
  let defect: Cause.Cause<never> | undefined
  yield* Stream.fromQueue(finished).pipe(
    Stream.groupedWithin(together, within),
    Stream.runForEach(
      Effect.fnUntraced(function* (batch) {
        const exits = yield* Effect.forEach(batch, (one) => Effect.exit(score(one)), { concurrency: "unbounded" })
        for (const [{ index }, exit] of Array.zip(batch, exits))
          if (Exit.isSuccess(exit)) trajectories.set(index, exit.value)
          else defect ??= exit.cause
        if (defect !== undefined) yield* onDefect
        yield* onFinished(exits.filter(Exit.isSuccess).map(({ value }) => value))
      })
    )
  )
  return defect === undefined ? trajectories : yield* Effect.failCause(defect)
})
