/** Memory of rollouts that make a group differ. */
import type { Method } from "@inspo/domain"
import { Moments } from "@inspo/statistics"

/** ARPO's memory of successes: a question whose rollouts all failed gets one of its earlier successes. */
export const successes = {
  name: "successes",
  description: "puts an earlier success of the question in the place of the first rollout of a group that failed",
  formula: "if sd < 0.05 and mean < 0.2: rollout 1 := a stored success",
  source: "ARPO, arXiv 2505.16282",
  certainty: "code",
  defaults: { size: 8, threshold: 0.1, sd: 0.05, low: 0.2 }
} as const satisfies Method.Method

export interface Rewarded {
  readonly reward: number
}

/** The stored success that a `draw` in [0, 1) chooses, if there is one. */
export const drawn = <A>(stored: ReadonlyArray<A>, draw: number): A | undefined =>
  stored[Math.floor(draw * stored.length)]

/** Whether all rollouts of a group failed; not if it is empty. */
export const failed = (
  rewards: ReadonlyArray<number>,
  { low, sd }: { readonly low: number; readonly sd: number } = successes.defaults
): boolean => rewards.length > 0 && Moments.deviation(rewards, 0) < sd && Moments.mean(rewards) < low

/** The successes to store after a step: the latest ones, at most `size`; the oldest leave first. */
export const remember = <A extends Rewarded>(
  stored: ReadonlyArray<A>,
  group: ReadonlyArray<A>,
  { size, threshold }: { readonly size: number; readonly threshold: number } = successes.defaults
): ReadonlyArray<A> => [...stored, ...group.filter(({ reward }) => reward > threshold)].slice(-size)

/** TRL's memory of groups: groups of equal rewards are replaced by stored ones, drawn by their scores. */
export const differingGroups = {
  name: "differing-groups",
  description: "puts stored groups that differed in the places of groups of equal rewards",
  formula: "score = Σ|A| · sd; the least scores leave; drawn in proportion to the score",
  source: "GRPO with a replay buffer (TRL)",
  certainty: "code",
  trl: "grpo_with_replay_buffer (experimental)",
  defaults: { size: 64 }
} as const satisfies Method.Method

/** A group with its score in the memory; of equal rewards it is 0. */
export interface ScoredGroup<A> {
  readonly group: A
  readonly score: number
}

/** The score of a group by its rewards and advantages. */
export const scoreOf = (rewards: ReadonlyArray<number>, advantages: ReadonlyArray<number>): number =>
  advantages.reduce((sum, advantage) => sum + Math.abs(advantage), 0) * Moments.deviation(rewards)

/** The groups to store after a step: those of the largest scores, none of score 0. */
export const rememberGroups = <A>(
  stored: ReadonlyArray<ScoredGroup<A>>,
  groups: ReadonlyArray<ScoredGroup<A>>,
  { size }: { readonly size: number } = differingGroups.defaults
): ReadonlyArray<ScoredGroup<A>> =>
  [...stored, ...groups.filter(({ score }) => score > 0)].toSorted((a, b) => b.score - a.score).slice(0, size)

/** The stored group that a `draw` in [0, 1) chooses, in proportion to the scores, or null. */
export const drawGroup = <A>(stored: ReadonlyArray<ScoredGroup<A>>, draw: number): A | null => {
  let left = draw * stored.reduce((sum, { score }) => sum + score, 0)
  for (const { group, score } of stored) if ((left -= score) < 0) return group
  return null
}
