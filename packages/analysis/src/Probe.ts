/**
 * What a few rollouts of the untrained policy say about a run: evolve its instruction first, evolve it along with the training, or train
 * plainly.
 *
 * Let N be the groups that the run trains on, and K the size of its population.
 *
 * - GRPO learns from a group only if its rewards differ. A group is **reached** if they do, or if all are 1: then nothing is left to
 *   learn. With a chance p of a reward of 1 in each of G rollouts, else 0, that is a share of 1 - (1 - p)^G. **Training starts** under an
 *   instruction with a share of at least 1 - 0.05^(3/N): then the first third of the run reaches a group with a probability of 95 %.
 * - In that third the run compares its instructions, with N/3K groups each. An instruction **pays** if it gains more over the seed than
 *   they show at 95 %: a smaller difference is found too late to train with.
 *
 * |                       | none starts / none pays | another starts / one pays |
 * | --------------------- | ----------------------- | ------------------------- |
 * | the seed does not     | `no-start`              | `evolve-first`            |
 * | the seed starts       | `train-plainly`         | `evolve-along`            |
 *
 * If the policy stays as it is, the whole run compares instructions, with N/K groups each, and the verdict is `evolve` if one pays, else
 * `keep-seed`. It is `undecided` unless everything within the intervals has the same verdict, so that a verdict is wrong with a probability
 * of at most 5 %. Shares have exact intervals; those of gains are from the Gaussian model that runs compare instructions by.
 */
import { type Group, type Instruction, Invariant } from "@inspo/domain"
import { Difference, Population } from "@inspo/population"
import { Exact, type Interval } from "@inspo/statistics"
import { type Array as Arr, Schema } from "effect"

export const Decision = Schema.Literals([
  "evolve-first",
  "evolve-along",
  "train-plainly",
  "no-start",
  "evolve",
  "keep-seed"
])
export type Decision = typeof Decision.Type

/** How many groups there are under an instruction, each on its own question, and how many of them are reached. */
export interface Counts {
  readonly groups: number
  readonly reached: number
}

/** An instruction besides the seed: its mean reward is higher by `gain`, give or take `half` at 95 %. */
export interface Variant extends Counts {
  readonly gain: number
  readonly half: number
}

export interface Evidence {
  /** Whether the policy trains in the run. */
  readonly trains: boolean
  /** N: the groups that the run trains on. */
  readonly runGroups: number
  /** The gain above which an instruction pays, see {@link tellsApart}. */
  readonly tellsApart: number
  readonly seed: Counts
  /** In any order. */
  readonly variants: ReadonlyArray<Variant>
}

/** The evidence of groups about instructions with at least one each, of which the first is the seed. */
export const evidenceOf = (
  instructions: Arr.NonEmptyReadonlyArray<Instruction.Instruction>,
  groups: ReadonlyArray<Group.Group>
): Pick<Evidence, "seed" | "variants"> => {
  const [seed, ...others] = instructions
  const population = Population.observe(
    { window: 1, span: "steps", average: "observed" },
    Population.begin(instructions),
    1,
    groups.map(({ instructionId, questionId, rewards }) => ({ instructionId, question: questionId, rewards }))
  )
  return {
    seed: countsOf(groups, seed.id),
    variants: others.map((variant) => {
      const difference = Difference.between(population, variant.id, seed.id)
      const { lower, mean, upper } = Invariant.present(difference, "the difference of two members")
      return { ...countsOf(groups, variant.id), gain: mean, half: Math.max(mean - lower, upper - mean) }
    })
  }
}

/** The groups of an instruction. */
export const countsOf = (groups: ReadonlyArray<Group.Group>, id: Instruction.InstructionId): Counts => {
  const own = groups.filter(({ instructionId }) => instructionId === id)
  return { groups: own.length, reached: own.filter(({ rewards }) => isReached(rewards)).length }
}

/** Whether GRPO learns from a group, or has nothing to learn from it. */
export const isReached = (rewards: ReadonlyArray<number>): boolean =>
  rewards.some((reward) => reward !== rewards[0]) || rewards[0] === 1

/** The share of groups above which the first third of `runGroups` reaches one with a probability of 95 %. */
export const startShare = (runGroups: number): number => 1 - 0.05 ** (3 / runGroups)

/** The gain that the run shows at 95 %, where `groups` show `half`: intervals shrink with the root of what they rest on. */
export const tellsApart = (
  half: number,
  groups: number,
  { population, runGroups, trains }: Pick<Evidence, "runGroups" | "trains"> & { readonly population: number }
): number => Math.min(1, half * Math.sqrt((groups * population * (trains ? 3 : 1)) / runGroups))

/** The verdicts that the evidence allows, at least one; a single one is the decision. */
export const possible = ({
  runGroups,
  seed,
  tellsApart: least,
  trains,
  variants
}: Evidence): ReadonlyArray<Decision> => {
  const level = 1 - 0.05 / Math.max(1, variants.length)
  const wider = Exact.tQuantile(level, gaussian) / Exact.tQuantile(0.95, gaussian)
  const gain = largest(variants.map(({ gain, half }) => [gain - wider * half, gain + wider * half]))
  if (!trains)
    return some([
      ["evolve", gain[1] > least],
      ["keep-seed", gain[0] <= least]
    ])
  const start = startShare(runGroups)
  const [low, high] = Exact.shareInterval(seed.reached, seed.groups, 0.95)
  const best = largest(variants.map(({ groups, reached }) => Exact.shareInterval(reached, groups, level)))
  return some([
    ["evolve-first", low < start && best[1] >= start],
    ["no-start", low < start && best[0] < start],
    ["evolve-along", high >= start && gain[1] > least],
    ["train-plainly", high >= start && gain[0] <= least]
  ])
}

const some = (all: ReadonlyArray<readonly [Decision, boolean]>): ReadonlyArray<Decision> =>
  all.flatMap(([decision, isPossible]) => (isPossible ? [decision] : []))

/** The interval of the largest of some quantities, from theirs; the seed gains 0. */
const largest = (intervals: ReadonlyArray<Interval.Interval>): Interval.Interval => [
  Math.max(0, ...intervals.map(([low]) => low)),
  Math.max(0, ...intervals.map(([, high]) => high))
]

/** Degrees of freedom at which Student's distribution is the normal one. */
const gaussian = 1e6

/** About how many times the evidence decides, if more has the same shares and gains: at least 1; null where `most` times does not. */
export const timesNeeded = (evidence: Evidence, most: number): number | null => {
  const decides = (times: number) => possible(scaled(evidence, times)).length === 1
  for (let times = 1; times < most; times *= growth) if (decides(times)) return times
  const last = Math.max(1, most)
  return decides(last) ? last : null
}

const growth = 1.1

const scaled = (evidence: Evidence, times: number): Evidence => {
  const more = ({ groups, reached }: Counts): Counts => ({ groups: times * groups, reached: times * reached })
  return {
    ...evidence,
    seed: more(evidence.seed),
    variants: evidence.variants.map(({ gain, half, ...counts }) => ({
      ...more(counts),
      gain,
      half: half / Math.sqrt(times)
    }))
  }
}

/**
 * How many groups each of `instructions` gets of the first half of a probe, or of the whole of what is left of it, where they share it.
 * Each group of an instruction has its own question, so there are at most as many as `questions`.
 */
export const share = (groups: number, instructions: number, questions: number): number =>
  Math.min(questions, Math.floor(groups / instructions))

/**
 * Whether the rest of a probe is for the seed: where the policy trains, and the first half reaches less under the seed than training needs
 * to start. To show that it does not start takes many groups.
 */
export const needsSeed = ({ runGroups, seed, trains }: Pick<Evidence, "runGroups" | "seed" | "trains">): boolean =>
  trains && seed.reached / seed.groups < startShare(runGroups)
