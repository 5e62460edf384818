/** The service `Random` of effect, drawn from a named stream. */
import { Effect, Random } from "effect"
import { doubles, type StreamPath, streamSeed } from "./RandomStream.ts"

/** Runs an effect with the named stream as its `Random` service. */
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
