import type { Population } from "@inspo/population"

/** The minimum of effective groups for a decision that the log did not make itself. */
export const minimumGroups = 20

/** How many times the same weight occurs; `count` need not be whole. */
export interface Weighted {
  readonly weight: number
  readonly count: number
}

/** Kish's effective sample size, (Σw)² / Σw²: as many equal weights give as precise a mean (Survey Sampling, 1965). 0 without weight. */
export const kish = (weights: ReadonlyArray<Weighted>): number => {
  const total = weights.reduce((sum, { count, weight }) => sum + count * weight, 0)
  const squares = weights.reduce((sum, { count, weight }) => sum + count * weight * weight, 0)
  return squares === 0 ? 0 : (total * total) / squares
}

/**
 * The effective number of groups behind the value of an instruction, when it is drawn with `ratio(step)` times the
 * probability it had where the groups were collected.
 *
 * All groups of an instruction in a step share that ratio, so it cancels in the step's mean. It counts if fewer groups would
 * have been drawn: of n groups a ratio below 1 leaves n × ratio, and a ratio above 1 cannot add groups. Eq. 6 gives each step
 * the same share, which its groups divide evenly: these are Kish's weights. A step with less than one expected group has only
 * that part of a share.
 */
export const effectiveGroups = (
  window: ReadonlyArray<Population.WindowEntry>,
  ratio: (step: number) => number
): number =>
  kish(
    window
      .map(({ groups, step }) => groups * Math.min(1, ratio(step)))
      .map((count) => ({ count, weight: 1 / Math.max(1, count) }))
  )
