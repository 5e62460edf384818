/** Who is best at something. */
import { Array as Arr } from "effect"
import { refuse } from "@inspo/domain/InvalidInput"

/**
 * Whether `a` is at least as good as `b` in everything, and better in something. Throws `InvalidInput` unless both list the
 * same criteria.
 */
export const dominates = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): boolean => {
  if (a.length !== b.length)
    refuse({ where: "Pareto", field: "scores", value: b, expected: `as many as another has, ${a.length}` })
  const pairs = Arr.zip(a, b)
  return pairs.every(([own, other]) => own >= other) && pairs.some(([own, other]) => own > other)
}

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
