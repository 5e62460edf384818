/** Rewards that see all rollouts of a group, and shaping of rewards. */
import { Method } from "@inspo/domain"

/** What such a reward reads of a rollout. The optional fields are for the rewards that name them in `needs`. */
export interface Attempt {
  /** Its reward by itself; above 0 it is a success. */
  readonly reward: number
  /** Its action tokens. */
  readonly length: number
  /** Its final answer as compared, if any. */
  readonly answer: string | null
  /** Calls of tools, by name. */
  readonly calls: Readonly<Record<string, number>>
  /** Its words. */
  readonly words?: ReadonlyArray<string>
  /** Whether a judge found its reasoning flawed. */
  readonly flawed?: boolean
  /** A judge's score of it. */
  readonly score?: number
  /** The length of the shortest success on the question so far, or null without one. */
  readonly shortest?: number | null
  /** The tokens that were announced as its budget, or null without one. */
  readonly budget?: number | null
  /** How probably it beats each member of the group, itself included. */
  readonly beats?: ReadonlyArray<number>
}

/** A reward of the members of a group. */
export const groupReward = Method.rules<ReadonlyArray<Attempt>, ReadonlyArray<number>>()

/** What scores each member by itself. */
export const perAttempt =
  <C>(reward: (attempt: Attempt, constants: C) => number) =>
  (group: ReadonlyArray<Attempt>, constants: C): ReadonlyArray<number> =>
    group.map((attempt) => reward(attempt, constants))
