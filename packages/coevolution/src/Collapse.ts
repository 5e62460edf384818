/** Whether the training reward of a run broke down (row 22). */

import { Invariant } from "@inspo/domain"

/** Mean training reward of one step, in [0, 1]. */
export interface StepReward {
  readonly step: number
  readonly mean: number
}

/**
 * The best window before the collapse, by its last step, and the last step and mean of the window that fell below; null
 * when none did.
 */
export interface Course {
  readonly best: StepReward
  readonly collapse: StepReward | null
}

/** Steps that a mean is taken over. */
export const window = 10

/**
 * Reads the course of the rewards, one entry per step in order: the reward collapses at the first step whose 10-step mean
 * lies below `share` of the best 10-step mean so far. A share of 0 sees none. Null before there are 10 steps.
 *
 * @example
 * ```ts
 * import { Collapse } from "@inspo/coevolution"
 *
 * const rewards = [...Array(20).keys()].map((i) => ({ step: i + 1, mean: i < 10 ? 0.4 : 0 }))
 * Collapse.course(rewards, 0.5) // best: step 10; collapse: step 16, mean 0.16
 * ```
 */
export const course = (rewards: ReadonlyArray<StepReward>, share: number): Course | null => {
  let best: StepReward | null = null
  for (let end = window; end <= rewards.length; end++) {
    const entries = rewards.slice(end - window, end)
    const current = {
      step: Invariant.at(rewards, end - 1, "reward of a step").step,
      mean: entries.reduce((sum, { mean }) => sum + mean, 0) / window
    }
    if (best === null || current.mean > best.mean) best = current
    else if (current.mean < share * best.mean) return { best, collapse: current }
  }
  return best === null ? null : { best, collapse: null }
}
