/** A new instruction from two. */
import { Effect, Random } from "effect"

/**
 * Crosses two instructions sentence by sentence. Sentences of the first that hold a tag stay, and so do those that both
 * have; every other sentence of either is kept with probability 1/2. Those of the first come in their order, then those of
 * the second. Draws from `Random`.
 *
 * @example
 * ```ts
 * import { Effect, Random } from "effect"
 * import { Crossover } from "@inspo/population"
 *
 * const child = Crossover.cross("Use <search>. Think first.", "Use <search>. Answer briefly.")
 * Effect.runSync(Random.withSeed(child, "a")) // "Use <search>.", with none, either or both of the other sentences
 * ```
 */
export const cross = (first: string, second: string): Effect.Effect<string> =>
  Effect.map(Random.Random, (random) => {
    const own = sentences(first)
    const others = sentences(second)
    const kept = own.filter(
      (sentence) => hasTag(sentence) || others.includes(sentence) || random.nextDoubleUnsafe() < 0.5
    )
    const added = others.filter(
      (sentence) => !hasTag(sentence) && !own.includes(sentence) && random.nextDoubleUnsafe() < 0.5
    )
    return [...kept, ...added].join(" ")
  })

const sentences = (text: string): ReadonlyArray<string> =>
  text
    .split(/(?<=[.!?])\s+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "")

const hasTag = (sentence: string): boolean => /<\/?[a-z][\w-]*>/iu.test(sentence)
