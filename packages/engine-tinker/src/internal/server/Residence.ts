import type { CheckpointRef, Engine, EngineError } from "@inspo/engine"
import { Effect, Semaphore } from "effect"

/** Weights with optimizer state that can be brought into the engine. */
export interface Weights {
  /** Names them in the engine's folder while others are at work. */
  readonly name: string
  /** Where they can be had from; null for those the engine started with. */
  parked: CheckpointRef | null
  /** The engine holds something newer than what is parked. */
  dirty: boolean
}

/**
 * One engine for many weights: whose turn it is finds its own in the engine, and nobody else's are lost. As long as one
 * model is used, nothing is written or read.
 */
export interface Residence {
  readonly base: Weights
  /** Alone with the engine, which holds `weights`. */
  readonly using: <A, E>(weights: Weights, work: Effect.Effect<A, E>) => Effect.Effect<A, E | EngineError>
  /** Alone with the engine, whatever it holds. */
  readonly alone: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Gives `weights` the content of a checkpoint, its optimizer state included unless that starts "fresh". */
  readonly load: (
    weights: Weights,
    checkpoint: CheckpointRef,
    optimizer: "saved" | "fresh"
  ) => Effect.Effect<void, EngineError>
  readonly forget: (weights: Weights) => Effect.Effect<void, EngineError>
}

export const make = Effect.fnUntraced(function* (engine: Engine.Interface): Effect.fn.Return<Residence, EngineError> {
  const turn = yield* Semaphore.make(1)
  const start = yield* engine.save("base")
  const base: Weights = { name: "base", parked: null, dirty: false }
  let resident: Weights | null = base

  const leave = Effect.gen(function* () {
    if (resident?.dirty !== true) return
    resident.parked = yield* engine.save(`parked.${resident.name}`)
    resident.dirty = false
  })

  const enter = Effect.fnUntraced(function* (weights: Weights) {
    if (resident === weights) return
    yield* leave
    if (resident === null || resident.parked?.uri !== weights.parked?.uri) {
      resident = null
      yield* engine.restore(weights.parked ?? start)
    }
    resident = weights
  })

  return {
    base,
    using: (weights, work) => turn.withPermit(Effect.andThen(enter(weights), work)),
    alone: turn.withPermits(1),
    load: (weights, checkpoint, optimizer) =>
      turn.withPermit(
        Effect.gen(function* () {
          if (resident !== weights) yield* leave
          resident = null
          yield* engine.restore(checkpoint, { optimizer })
          resident = weights
          // The checkpoint may be removed while these weights live on.
          weights.dirty = true
        })
      ),
    forget: (weights) =>
      turn.withPermit(
        Effect.gen(function* () {
          if (resident === weights) resident = null
          if (weights.parked !== null) yield* engine.remove(weights.parked)
        })
      )
  }
})
