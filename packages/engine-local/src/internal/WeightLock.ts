import { Effect, type Scope, Semaphore } from "effect"

/** Who may work with the weights of an engine, and when samples come from other ones. */
interface WeightLock {
  /** Samples go beside each other, and beside what changes the weights only while others are held. */
  readonly sampling: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** What may change the weights goes alone. */
  readonly alone: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Samples come from the changed weights from now on, unless others are held. */
  readonly changed: () => void
  /** Samples come from the weights of now until the scope closes; one scope at a time. */
  readonly hold: Effect.Effect<void, never, Scope.Scope>
}

/** `most` samples may go beside each other; `publish` has samples come from the present weights, and no sample runs meanwhile. */
export const make = Effect.fnUntraced(function* (most: number, publish: () => void): Effect.fn.Return<WeightLock> {
  const samples = yield* Semaphore.make(most)
  const weights = yield* Semaphore.make(most)
  const holder = yield* Semaphore.make(1)
  let held = false
  const alone = weights.withPermits(most)
  const changed = () => {
    if (!held) publish()
  }
  return {
    sampling: (work) => samples.withPermit(Effect.suspend(() => (held ? work : weights.withPermit(work)))),
    alone,
    changed,
    hold: Effect.acquireRelease(Effect.andThen(holder.take(1), alone(Effect.sync(() => void (held = true)))), () =>
      Effect.sync(() => {
        held = false
        changed()
      }).pipe(alone, samples.withPermits(most), Effect.ensuring(holder.release(1)))
    )
  }
})
