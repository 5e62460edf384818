/** Differences of scores in words: what training, the best instruction and a new instruction each change. */
import { Interval } from "@inspo/statistics"
import { inPoints, percent, plural } from "./Format.ts"

/** A difference in points with its 95 % interval: `+26.4 points [+21.2, +31.4]`. */
export const gain = (one: Interval.Estimated, other: Interval.Estimated): string =>
  inPoints(one.mean - other.mean, Interval.ofDifference(one, other))

/** The evaluated cells of the final table; those that are missing were not evaluated. */
export interface Cells<A extends Interval.Estimated> {
  readonly before: A | undefined
  readonly after: A | undefined
  /** After training, with the best instruction; undefined if that is the seed. */
  readonly best: A | undefined
}

/** The gain of training under the seed, and that of the best instruction after training: each changes one thing. */
export const gains = <A extends Interval.Estimated>({
  after,
  before,
  best
}: Cells<A>): ReadonlyArray<readonly [of: "training" | "instruction", gain: string]> => [
  ...(before === undefined || after === undefined ? [] : [["training", gain(after, before)] as const]),
  ...(after === undefined || best === undefined ? [] : [["instruction", gain(best, after)] as const])
]

/** How much better an instruction was than its parent in training: `+3.1 points [+0.4, +5.8] on 48 shared questions`. */
export const ofTraining = ({ ci95, mean, n }: Interval.MeanDifference): string =>
  `${inPoints(mean, ci95)} on ${plural(n, "shared question")}`

/** How the verification compared a candidate with its parent. */
export const comparedWithParent = ({
  difference,
  parentMean
}: {
  readonly difference: Interval.MeanDifference | null
  readonly parentMean: number | null
}): string => {
  if (difference !== null)
    return `${inPoints(difference.mean, difference.ci95)} compared with its parent on the same questions`
  return parentMean === null ? "not compared with its parent" : `compared with ${percent(parentMean)} of its parent`
}
