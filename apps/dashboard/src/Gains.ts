/** What training and the best instruction each change in the final table. */
import { type Estimated, ofDifference } from "@inspo/statistics/Interval"
import { interval, points } from "./Format.ts"

/** A difference in points with its 95 % interval: `+26.4 points [+21.2, +31.4]`. */
export const gain = (one: Estimated, other: Estimated): string =>
  `${points(one.mean - other.mean)} points ${interval(ofDifference(one, other), points)}`

/** The evaluated cells of the final table; those that are missing were not evaluated. */
export interface Cells<A extends Estimated> {
  readonly before: A | undefined
  readonly after: A | undefined
  /** After training, with the best instruction; undefined if that is the seed. */
  readonly best: A | undefined
}

/** The gain of training under the seed, and that of the best instruction after training: each changes one thing. */
export const gains = <A extends Estimated>({
  after,
  before,
  best
}: Cells<A>): ReadonlyArray<readonly [of: "training" | "instruction", gain: string]> => [
  ...(before === undefined || after === undefined ? [] : [["training", gain(after, before)] as const]),
  ...(after === undefined || best === undefined ? [] : [["instruction", gain(best, after)] as const])
]
