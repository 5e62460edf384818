import { Effect, Random } from "effect"

/** The name of a random stream within a run, such as `["assignment", step]`. */
export type StreamPath = ReadonlyArray<string | number>

/**
 * The seed text of the stream `path` of the run `seed`. Streams are addressed by name instead of carried as state, so
 * nothing has to be saved to resume a run exactly and consumers cannot disturb each other's draws.
 */
export const streamSeed = (seed: number, path: StreamPath): string => JSON.stringify([seed, ...path])

/**
 * Runs an effect with the named stream as its `Random` service.
 *
 * @example
 * ```ts
 * import { Effect, Random } from "effect"
 * import { RandomStream } from "@inspo/domain"
 *
 * const draw = Random.next.pipe(RandomStream.withStream(7, ["assignment", 3]))
 * Effect.runSync(draw) === Effect.runSync(draw) // true
 * ```
 */
export const withStream =
  (seed: number, path: StreamPath) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    // Always a string: a numeric seed keeps only 32 bits.
    Random.withSeed(effect, streamSeed(seed, path))

/** Draws from the named stream at once; `draw` must be synchronous and need nothing but `Random`. */
export const drawSync = <A>(seed: number, path: StreamPath, draw: Effect.Effect<A>): A =>
  Effect.runSync(withStream(seed, path)(draw))
