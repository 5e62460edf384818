/** How much two instructions say the same. */

/** Words that make a shingle. */
const length = 3

/**
 * The share of runs of three words that two texts have in common, in [0, 1]: the Jaccard index of their shingles (Broder,
 * "On the resemblance and containment of documents", 1997). Case, punctuation and white space do not count; tags do. A text
 * of fewer than three words is one shingle.
 *
 * @example
 * ```ts
 * import { Similarity } from "@inspo/population"
 *
 * Similarity.of("Search first. Then answer.", "Search first, then answer!") // 1
 * Similarity.of("Search first, then answer.", "Think first, then answer.") // 1/3
 * ```
 */
export const of = (a: string, b: string): number => {
  const [left, right] = [shingles(a), shingles(b)]
  const shared = [...left].filter((shingle) => right.has(shingle)).length
  return shared / (left.size + right.size - shared)
}

const shingles = (text: string): ReadonlySet<string> => {
  const words = text.toLowerCase().match(/<\/?[\w-]+>|[\p{L}\p{N}]+/gu) ?? []
  const runs = words.slice(length - 1).map((_, first) => words.slice(first, first + length).join(" "))
  return new Set(runs.length === 0 ? [words.join(" ")] : runs)
}
