import type { NonEmptyReadonlyArray } from "effect/Array"
import * as Invariant from "./Invariant.ts"
import { isaac } from "./internal/isaac.ts"

/** The name of a random stream within a run, such as `["assignment", step]`. */
export type StreamPath = ReadonlyArray<string | number>

/** Draws from one stream; each takes the next numbers. */
export interface RandomStream {
  /** Uniform in [0, 1), a multiple of 2⁻⁵³. */
  readonly next: () => number
  /** An integer from `min` to `max`, both included. */
  readonly nextIntBetween: (min: number, max: number) => number
  readonly choice: <A>(elements: NonEmptyReadonlyArray<A>) => A
  /** The elements in random order, in a new array. */
  readonly shuffle: <A>(elements: ReadonlyArray<A>) => Array<A>
}

/**
 * The stream `path` of the run `seed`, from its first draw.
 *
 * @example
 * ```ts
 * import { RandomStream } from "@inspo/domain"
 *
 * RandomStream.make(7, ["dice", 1]).nextIntBetween(1, 6) // 3
 * ```
 */
export const make = (seed: number, path: StreamPath): RandomStream => fromText(streamSeed(seed, path))

/** The stream of any text; {@link make} names streams within a run. */
export const fromText = (seed: string): RandomStream => {
  const next = doubles(seed)
  const below = (end: number) => Math.floor(next() * end)
  return {
    next,
    nextIntBetween: (min, max) => min + below(max - min + 1),
    choice: (elements) => elements[below(elements.length)] ?? elements[0],
    shuffle: (elements) => {
      const shuffled = [...elements]
      for (let last = shuffled.length - 1; last >= 1; last--) {
        const other = below(last + 1)
        const element = Invariant.at(shuffled, last, "element")
        shuffled[last] = Invariant.at(shuffled, other, "element")
        shuffled[other] = element
      }
      return shuffled
    }
  }
}

/**
 * The seed text of the stream `path` of the run `seed`. Streams are addressed by name and have no state, so a
 * run resumes exactly without saved state, and consumers cannot disturb each other's draws.
 */
export const streamSeed = (seed: number, path: StreamPath): string => JSON.stringify([seed, ...path])

/** 53 bits at a time: 21 of one word, then the 32 of another. */
export const doubles = (seed: string): (() => number) => {
  const word = isaac(seed)
  return () => {
    const high = (word() & 0x1fffff) * 2 ** 32
    return (high + (word() >>> 0)) / 2 ** 53
  }
}
