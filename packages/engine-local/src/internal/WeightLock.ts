import { Effect, Semaphore } from "effect"

/**
 * Who may work with the weights of an engine, and when samples come from other ones. `most` samples may go beside each other;
 * `publish` has samples come from the present weights, and no sample runs meanwhile.
 */
export const make = Effect.fnUntraced(function* (most: number, publish: () => void) {
  const samples = yield* Semaphore.make(most)
  const weights = yield* Semaphore.make(most)
  const holder = yield* Semaphore.make(1)
  let held = false
  /** What may change the weights goes alone. */
  const alone = weights.withPermits(most)
  /** Samples come from the changed weights from now on, unless others are held. */
  const changed = () => {
    if (!held) publish()
  }
  return {
    /** Samples go beside each other, and beside what changes the weights only while others are held. */
    sampling: <A, E, R>(work: Effect.Effect<A, E, R>) =>
      samples.withPermit(Effect.suspend(() => (held ? work : weights.withPermit(work)))),
    alone,
    changed,
    /** Samples come from the weights of now until the scope closes; one scope at a time. */
    hold: Effect.acquireRelease(Effect.andThen(holder.take(1), alone(Effect.sync(() => void (held = true)))), () =>
      Effect.sync(() => {
        held = false
        changed()
      }).pipe(alone, samples.withPermits(most), Effect.ensuring(holder.release(1)))
    )
  }
})
