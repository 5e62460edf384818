/** Detects a collapse of the training reward (row 22). */

/** Mean training reward of one step, in [0, 1]. */
export interface StepReward {
  readonly step: number
  readonly mean: number
}

/**
 * The trend of the rewards. `latest` are those of the last {@link window} steps, the oldest first. `best` is the best window
 * before any collapse, named by its last step; null before {@link window} steps. `collapse` is the last step and the mean of the
 * window that fell below the limit; null if none did.
 */
export interface RewardTrend {
  readonly latest: ReadonlyArray<StepReward>
  readonly best: StepReward | null
  readonly collapse: StepReward | null
}

/** Steps in the moving mean. */
export const window = 10

/** The share of the best mean below which the reward has collapsed. */
export const share = 0.5

/** The trend before the first reward. */
export const unstarted: RewardTrend = { latest: [], best: null, collapse: null }

/**
 * The trend after one more reward: it collapses at the first step whose 10-step mean is below half of the best
 * 10-step mean so far.
 *
 * @example
 * ```ts
 * import { Collapse } from "@inspo/coevolution"
 *
 * const rewards = [...Array(20).keys()].map((i) => ({ step: i + 1, mean: i < 10 ? 0.4 : 0 }))
 * rewards.reduce((trend, reward) => Collapse.observe(trend, reward), Collapse.unstarted)
 * // best: step 10; collapse: step 16, mean 0.16
 * ```
 */
export const observe = ({ best, collapse, latest }: RewardTrend, reward: StepReward): RewardTrend => {
  const entries = [...latest, reward].slice(-window)
  if (collapse !== null || entries.length < window) return { latest: entries, best, collapse }
  const current = { step: reward.step, mean: entries.reduce((sum, { mean }) => sum + mean, 0) / window }
  if (best === null || current.mean > best.mean) return { latest: entries, best: current, collapse }
  return { latest: entries, best, collapse: current.mean < share * best.mean ? current : null }
}
