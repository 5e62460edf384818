import type { CheckpointRef, Engine, EngineError } from "@inspo/engine"
import { Effect, Semaphore } from "effect"

/** Weights with optimizer state that can be brought into the engine. */
export interface Weights {
  /** Names them in the engine's folder while others are at work. */
  readonly name: string
  /** Where they are saved; null for those the engine started with. */
  saved: CheckpointRef | null
  /** The engine holds something newer than what is saved. */
  dirty: boolean
}

export type LoadedWeights = Effect.Success<ReturnType<typeof make>>

/** One engine for many weights: whose turn it is finds its own there. As long as one model is used, nothing is written or read. */
export const make = Effect.fnUntraced(function* (engine: Engine.Interface) {
  const turn = yield* Semaphore.make(1)
  const start = yield* engine.save("base")
  const base: Weights = { name: "base", saved: null, dirty: false }
  let current: Weights | null = base

  const leave = Effect.gen(function* () {
    if (current?.dirty !== true) return
    current.saved = yield* engine.save(`swapped.${current.name}`)
    current.dirty = false
  })

  const enter = Effect.fnUntraced(function* (weights: Weights) {
    if (current === weights) return
    yield* leave
    if (current === null || current.saved?.uri !== weights.saved?.uri) {
      current = null
      yield* engine.restore(weights.saved ?? start)
    }
    current = weights
  })

  return {
    base,
    /** Alone with the engine, which holds `weights`. */
    using: <A, E>(weights: Weights, work: Effect.Effect<A, E>): Effect.Effect<A, E | EngineError> =>
      turn.withPermit(Effect.andThen(enter(weights), work)),
    /** Alone with the engine, whatever it holds. */
    alone: turn.withPermits(1),
    /** Gives `weights` the content of a checkpoint, its optimizer state included unless that starts "fresh". */
    load: (weights: Weights, checkpoint: CheckpointRef, optimizer: "saved" | "fresh") =>
      turn.withPermit(
        Effect.gen(function* () {
          if (current !== weights) yield* leave
          current = null
          yield* engine.restore(checkpoint, { optimizer })
          current = weights
          // The checkpoint may be removed while these weights live on.
          weights.dirty = true
        })
      ),
    forget: (weights: Weights) =>
      turn.withPermit(
        Effect.gen(function* () {
          if (current === weights) current = null
          if (weights.saved !== null) yield* engine.remove(weights.saved)
        })
      )
  }
})
