/** Who is best at something. */

/** Whether `a` is at least as good as `b` in everything, and better in something. Both list the same criteria. */
export const dominates = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): boolean =>
  a.every((value, index) => value >= (b[index] ?? -Infinity)) &&
  a.some((value, index) => value > (b[index] ?? -Infinity))

/**
 * The items that no other dominates, in their order; never empty unless `items` is.
 *
 * @example
 * ```ts
 * import { Pareto } from "@inspo/population"
 *
 * Pareto.front([[1, 0], [0, 1], [0, 0]], (scores) => scores) // [[1, 0], [0, 1]]
 * ```
 */
export const front = <A>(items: ReadonlyArray<A>, scores: (item: A) => ReadonlyArray<number>): ReadonlyArray<A> => {
  const scored = items.map((item) => ({ item, own: scores(item) }))
  return scored.flatMap(({ item, own }) => (scored.some((other) => dominates(other.own, own)) ? [] : [item]))
}
