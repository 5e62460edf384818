import { sumAll } from "effect/Number"

/** A way in which the rewards of one group become advantages. */
export interface Estimator<Name extends string = string> {
  /** What `train.advantage` calls it. */
  readonly name: Name
  /** What it does, as the rest of a sentence that begins with its name. */
  readonly description: string
  /** Whether instructions may share a group: its advantages are then those of rewards less the level of their instruction. */
  readonly allowsLevels: boolean
  /** The advantage of each reward, in order; the rewards are finite. */
  readonly ofGroup: (rewards: ReadonlyArray<number>) => ReadonlyArray<number>
}

/** Rewards less their mean. Equal rewards get zeros: by rounding their mean can differ from them, which a deviation magnifies. */
export const centre = (rewards: ReadonlyArray<number>): ReadonlyArray<number> => {
  if (rewards.every((reward) => reward === rewards[0])) return rewards.map(() => 0)
  const mean = sumAll(rewards) / rewards.length
  return rewards.map((reward) => reward - mean)
}
