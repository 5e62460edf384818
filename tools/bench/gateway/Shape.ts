import { Schema } from "effect"

/** Episodes in flight, and model calls in each. */
export const workers = 512
export const calls = 8

/**
 * What the gateway did cost: processor seconds, peak resident megabytes, and megabytes in use after the first fifth of the episodes and
 * after all. `mixed` counts episodes with tokens of another.
 */
export const Measured = Schema.Struct({
  calls: Schema.Int,
  mixed: Schema.Int,
  processor: Schema.Finite,
  wall: Schema.Finite,
  peak: Schema.Finite,
  heapBefore: Schema.Finite,
  heap: Schema.Finite
})
