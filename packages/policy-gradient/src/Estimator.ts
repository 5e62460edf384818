/** How the rewards of groups become advantages. */
import type { Method } from "@inspo/domain"

/** What an estimator reads of a rollout. The optional fields are for the estimators that name them in `needs`. */
export interface Member {
  /** Its reward, less the level of its instruction where instructions share a group. */
  readonly reward: number
  /** Its action tokens. */
  readonly length: number
  /** Its final answer, if any. */
  readonly answer: string | null
  /** The number of action tokens up to its first call of a tool, or null if it called none. */
  readonly firstCall: number | null
  /** The reward of the most probable response to the same prompt. */
  readonly greedy?: number
  /** Its rewards of several kinds, in the order of the kinds. */
  readonly rewards?: ReadonlyArray<number>
  /** The tokens that were announced to it as its budget. */
  readonly budget?: number
  /** How certain the policy was of its answer and of its prompt, each in (0, 1]. */
  readonly confidence?: { readonly prompt: number; readonly answer: number }
}

/** The rollouts of one prompt. */
export type Group = ReadonlyArray<Member>

/** The advantages of groups, in the order of their members. */
type Advantages = ReadonlyArray<ReadonlyArray<number>>

/** A way in which the rewards of groups become advantages. */
export interface Estimator<
  Name extends string = string,
  C extends Method.Constants = Method.Constants
> extends Method.Method<Name, C> {
  /** Whether instructions may share a group: its advantages are then those of rewards less the level of their instruction. */
  readonly allowsLevels: boolean
  /** The advantage of each member of the groups of a batch, in order; the rewards are finite. */
  ofBatch(this: void, groups: ReadonlyArray<Group>, constants?: Partial<C>): Advantages
}

/** An estimator from its description and its function of all constants. */
export const estimator = <const Name extends string, C extends Method.Constants>({
  estimate,
  ...method
}: Omit<Estimator<Name, C>, "ofBatch"> & {
  readonly estimate: (groups: ReadonlyArray<Group>, constants: C) => Advantages
}): Estimator<Name, C> => ({
  ...method,
  ofBatch: (groups, constants) => estimate(groups, { ...method.defaults, ...constants })
})

/** What treats each group by itself. */
export const perGroup =
  <C>(ofGroup: (group: Group, constants: C) => ReadonlyArray<number>) =>
  (groups: ReadonlyArray<Group>, constants: C): Advantages =>
    groups.map((group) => ofGroup(group, constants))

export const rewardsOf = (group: Group): ReadonlyArray<number> => group.map(({ reward }) => reward)

export const lengthsOf = (group: Group): ReadonlyArray<number> => group.map(({ length }) => length)

/** The values of a batch as groups of the same sizes as before. */
export const regroup = (groups: ReadonlyArray<Group>, values: ReadonlyArray<number>): Advantages => {
  let start = 0
  return groups.map(({ length }) => values.slice(start, (start += length)))
}
