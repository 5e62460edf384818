import { Invariant, type Trajectory } from "@inspo/domain"
import { Array, type Cause, Effect, Exit, Queue, Ref, Stream } from "effect"
import type { FinishedEpisode } from "./Scoring.ts"

/**
 * Plays episodes, and scores and hands over each that it puts into the queue, meanwhile. Returns a trajectory for each episode, in their
 * order. Playing is to begin nothing new once `isStopping` is set. Finished trajectories are handed over
 * before a failure is reported.
 */
export const collect = Effect.fnUntraced(function* <E1, E2>(
  episodes: ReadonlyArray<unknown>,
  { onFinished, score }: Pick<Options<E1>, "onFinished" | "score">,
  play: (finished: Queue.Queue<FinishedEpisode, Cause.Done>, isStopping: Ref.Ref<boolean>) => Effect.Effect<unknown, E2>
) {
  const finished = yield* Queue.unbounded<FinishedEpisode, Cause.Done>()
  const isStopping = yield* Ref.make(false)
  const playing = play(finished, isStopping).pipe(
    Effect.exit,
    Effect.tap(() => Queue.end(finished))
  )
  const handing = deliver(finished, { score, onFinished, onDefect: Ref.set(isStopping, true) })
  const [played, trajectories] = yield* Effect.all([playing, handing], { concurrency: "unbounded" })
  yield* played
  return episodes.map((_, index) => Invariant.get(trajectories, index, "trajectory"))
})

interface Options<E> {
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
const deliver = Effect.fnUntraced(function* <E>(
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
