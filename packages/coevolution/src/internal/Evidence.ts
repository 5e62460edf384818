import type { Population } from "@inspo/population"

/** Fewest effective groups that anything may rest on which the log did not decide itself. */
export const minimumGroups = 20

/** How many times the same weight occurs; `count` need not be whole. */
export interface Weighted {
  readonly weight: number
  readonly count: number
}

/**
 * Kish's effective sample size, (Σw)² / Σw²: the number of equally weighted observations whose mean is as precise (Kish,
 * Survey Sampling, 1965). 0 without any weight.
 */
export const kish = (weights: ReadonlyArray<Weighted>): number => {
  const total = weights.reduce((sum, { count, weight }) => sum + count * weight, 0)
  const squares = weights.reduce((sum, { count, weight }) => sum + count * weight * weight, 0)
  return squares === 0 ? 0 : (total * total) / squares
}

/**
 * The effective number of groups behind the value of an instruction, when it is drawn with `ratio(step)` times the
 * probability it had where the groups were collected.
 *
 * All groups of an instruction in a step share that ratio, so it cancels from the step's mean. It counts where fewer
 * would have been drawn: of n groups a ratio below 1 leaves n × ratio, and a ratio above 1 cannot add what was not
 * collected. Eq. 6 gives each step the same share, which its groups divide evenly: those are Kish's weights. A step that
 * would have brought less than one group has the share of that part, being left out as often.
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
