import { points } from "./Format.ts"
import { Markdown } from "@inspo/report"
import { Exact } from "@inspo/statistics"

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
export const takeOffTable = (arms: ReadonlyArray<ArmTakeOffs>): ReadonlyArray<string> => [
  "A run takes off at the first step at which the mean training reward of five steps is at least 50 %. Both p are exact, two-sided " +
    "and paired by seed: of taking off, and of an earlier first reward.",
  "",
  ...Markdown.table([
    [
      "arm",
      "take off",
      "95 % interval",
      "steps",
      "first reward",
      "under the first instruction",
      `p against ${arms[0]?.arm ?? ""}`,
      "p of the first reward"
    ],
    ...arms.map(({ arm, runs }, index) => {
      const all = [...runs.values()]
      const steps = all.flatMap(({ step }) => step ?? [])
      const { ci95 } = Exact.proportion(steps.length, all.length)
      const first = all.map(({ rewards }) => firstReward(rewards)).toSorted((a, b) => a - b)
      const under = all.flatMap(({ underFirst }) => underFirst ?? [])
      return [
        arm,
        `${steps.length} of ${all.length}`,
        `${points(ci95[0])} to ${points(ci95[1])}`,
        steps.length === 0 ? "–" : steps.toSorted((a, b) => a - b).join(", "),
        first.map((step) => (step === Infinity ? "–" : step)).join(", "),
        under.length === 0 ? "–" : under.map(points).join(", "),
        ...[tookOff, isEarlier].map((difference) =>
          index === 0 ? "" : compared(arms[0]?.runs ?? new Map(), runs, difference).toPrecision(2)
        )
      ]
    })
  ])
]

/** The step of the first reward; Infinity without one. */
const firstReward = (rewards: TakeOff["rewards"]): number => {
  const found = rewards.findIndex((reward) => (reward ?? 0) > 0)
  return found < 0 ? Infinity : found + 1
}

/** Above 0 where the first run is the better one, below 0 where the second is. */
type Difference = (one: TakeOff, other: TakeOff) => number

const tookOff: Difference = (one, other) => Number(one.step !== null) - Number(other.step !== null)

const isEarlier: Difference = (one, other) => {
  const [first, second] = [firstReward(one.rewards), firstReward(other.rewards)]
  return Number(first < second) - Number(second < first)
}

const compared = (left: ArmTakeOffs["runs"], right: ArmTakeOffs["runs"], difference: Difference): number => {
  const pairs = [...left].flatMap(([seed, one]) => {
    const other = right.get(seed)
    return other === undefined ? [] : [difference(one, other)]
  })
  return Exact.signTest(pairs.filter((sign) => sign > 0).length, pairs.filter((sign) => sign < 0).length)
}
