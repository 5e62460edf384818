import type { EngineError } from "@inspo/engine"
import { Effect } from "effect"

/**
 * A durable memory of the models that a client holds on its server, so that one that was killed does not leave them there:
 * its successor gives back what is noted before it asks for a model of its own.
 */
export interface ModelNotes {
  /** The models that were taken and not given back, by their ids on the server. */
  readonly held: Effect.Effect<ReadonlyArray<string>, EngineError>
  /** Notes a model; done before anything is asked of it. */
  readonly took: (model: string) => Effect.Effect<void, EngineError>
  /** Strikes out a model that is gone from the server. */
  readonly gaveBack: (model: string) => Effect.Effect<void, EngineError>
}

/** Nothing is noted: what a killed client leaves behind stays until the server frees it. */
export const none: ModelNotes = {
  held: Effect.succeed([]),
  took: () => Effect.void,
  gaveBack: () => Effect.void
}
