/** The service `Random` of effect, drawn from a named stream. */
import { Effect, Random } from "effect"
import { doubles, type StreamPath, streamSeed } from "./RandomStream.ts"

/**
 * Runs an effect with the named stream as its `Random` service.
 *
 * @example
 * ```ts
 * import { Effect, Random } from "effect"
 * import { SeededRandom } from "@inspo/domain"
 *
 * const draw = Random.next.pipe(SeededRandom.withStream(7, ["assignment", 3]))
 * Effect.runSync(draw) === Effect.runSync(draw) // true
 * ```
 */
export const withStream =
  (seed: number, path: StreamPath) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => Effect.provideService(effect, Random.Random, service(streamSeed(seed, path))))

const service = (seed: string): Random.Random => {
  const next = doubles(seed)
  return {
    nextDoubleUnsafe: next,
    nextIntUnsafe: () =>
      Math.floor(next() * (Number.MAX_SAFE_INTEGER - Number.MIN_SAFE_INTEGER + 1)) + Number.MIN_SAFE_INTEGER
  }
}
