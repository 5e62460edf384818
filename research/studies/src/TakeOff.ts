import { points, table } from "./Format.ts"
import { Exact } from "@inspo/statistics"
import * as Paired from "./Paired.ts"

/** Steps whose mean training reward decides. */
const window = 5

/** The mean training reward at which a run has taken off. */
const half = 0.5

/** Whether and when a run learned, and what stays in the weights without its best instruction. */
export interface TakeOff {
  /** The first step at which the mean reward of it and the four before it is at least 50 %; null if there is none. */
  readonly step: number | null
  /** The mean training reward of each step of all stages; null where every rollout failed. */
  readonly rewards: ReadonlyArray<number | null>
  /** The wall time of all stages, in seconds. */
  readonly seconds: number
  /** The score of the trained policy under the first instruction of its last stage; null if it was not evaluated. */
  readonly underFirst: number | null
  /** The hash of the trained weights as the engine states it; empty where it states none. */
  readonly weights: string
}

/** The step of {@link TakeOff} from the training reward of each step; a step without a reward counts as 0. */
export const stepOf = (rewards: ReadonlyArray<number | null>): number | null => {
  const sums = rewards.map((_, end) =>
    rewards.slice(Math.max(0, end + 1 - window), end + 1).reduce<number>((sum, reward) => sum + (reward ?? 0), 0)
  )
  const found = sums.findIndex((sum, end) => end + 1 >= window && sum >= half * window)
  return found < 0 ? null : found + 1
}

/** The runs of an arm by seed. */
export interface ArmTakeOffs {
  readonly arm: string
  readonly runs: ReadonlyMap<number, TakeOff>
}

/**
 * How many seeds of each arm took off, and when the first reward came, compared with the first arm on the seeds that both have: by
 * the exact test of McNemar, and by the sign test.
 */
export const takeOffTable = (arms: ReadonlyArray<ArmTakeOffs>): ReadonlyArray<string> => {
  const [reference] = arms
  const against = (isBetter: IsBetter) => (one: ArmTakeOffs) =>
    reference === undefined || one === reference ? "" : signTest(reference.runs, one.runs, isBetter).toPrecision(2)
  const all = ({ runs }: ArmTakeOffs) => [...runs.values()]
  const stepsOf = (one: ArmTakeOffs) => all(one).flatMap(({ step }) => step ?? [])
  const inOrder = (steps: ReadonlyArray<number>) => steps.toSorted((a, b) => a - b)
  return [
    "A run takes off at the first step at which the mean training reward of five steps is at least 50 %. Both p are exact, two-sided " +
      "and paired by seed: of taking off, and of an earlier first reward.",
    "",
    ...table(arms, [
      ["arm", ({ arm }) => arm],
      ["take off", (one) => `${stepsOf(one).length} of ${one.runs.size}`],
      ["95 % interval", (one) => Exact.proportion(stepsOf(one).length, one.runs.size).ci95.map(points).join(" to ")],
      ["steps", (one) => inOrder(stepsOf(one)).join(", ") || "–"],
      [
        "first reward",
        (one) =>
          inOrder(all(one).map(firstReward))
            .map((step) => (step === Infinity ? "–" : step))
            .join(", ")
      ],
      [
        "under the first instruction",
        (one) =>
          all(one)
            .flatMap(({ underFirst }) => underFirst ?? [])
            .map(points)
            .join(", ") || "–"
      ],
      [`p against ${reference?.arm ?? ""}`, against((one, other) => one.step !== null && other.step === null)],
      ["p of the first reward", against((one, other) => firstReward(one) < firstReward(other))]
    ])
  ]
}

/** The step of the first reward; Infinity without one. */
const firstReward = ({ rewards }: TakeOff): number => {
  const found = rewards.findIndex((reward) => (reward ?? 0) > 0)
  return found < 0 ? Infinity : found + 1
}

type IsBetter = (one: TakeOff, other: TakeOff) => boolean

/** The sign test over the seeds of both sides. */
const signTest = (left: ArmTakeOffs["runs"], right: ArmTakeOffs["runs"], isBetter: IsBetter): number => {
  const pairs = Paired.pairs(left, right)
  return Exact.signTest(
    pairs.filter(([one, other]) => isBetter(one, other)).length,
    pairs.filter(([one, other]) => isBetter(other, one)).length
  )
}
