/** The value of an instruction: the moving average of its mean reward per step (Eq. 6), with an option where the paper leaves one open. */
import * as Arr from "effect/Array"
import { sumAll } from "effect/Number"
import * as Option from "effect/Option"
import * as InvalidInput from "@inspo/domain/InvalidInput"
import * as Invariant from "@inspo/domain/Invariant"
import type { Group, Instruction, Strategy } from "@inspo/domain"
import type { Contents, Lifetime, Member, Value, WindowEntry } from "./Contents.ts"
import { ids, incumbent, lifetimeMean, missingShares } from "./Members.ts"
import * as Blocks from "./Blocks.ts"
import * as Comparison from "./Comparison.ts"
import * as Ranking from "./Ranking.ts"

/**
 * The part of a group that values are computed from. `missing` counts the samples without a reward, by default 0. Without a
 * question, a group is compared with the others of its `stratum`, by default the same for all.
 */
export interface Observed extends Pick<Group.Group, "instructionId"> {
  readonly rewards: ReadonlyArray<number>
  readonly missing?: number
  readonly question?: string | null
  readonly stratum?: string
}

/** The values of the members of a population, and the statistics that they follow from. All functions are pure. */
export interface Interface {
  readonly identity: Strategy.Identity
  /** w_j of every member, in the order of the population, including those never sampled. */
  readonly values: (population: Contents) => ReadonlyArray<Value>
  /** I*: the instruction to return and to use at inference; none only if the population is empty. */
  readonly best: (population: Contents) => Option.Option<Member>
  /**
   * Credits the groups of step `step` to the instructions they were rolled out under. Throws `InvalidInput` on a step that
   * is not after the last one, a group of an instruction that is not a member, a group without samples, and a reward outside
   * [0, 1].
   */
  readonly observe: (population: Contents, step: number, groups: ReadonlyArray<Observed>) => Contents
}

/**
 * How missing rewards count. `worst`: a missing reward is unknown, so a decision must hold whatever it would have been. A value in [0, 1]: a
 * missing reward counts as this value.
 */
export type MissingRewards = "worst" | { readonly value: number }

/** An option for each point that Eq. 6 and its context leave open. */
export interface Choices {
  /** n of Eq. 6, in steps, at least 1. */
  readonly window: number
  /** The divisor of the sum over the window: n, or the number of steps observed in it. */
  readonly average: "window" | "observed"
  /** What the window holds: the instruction's own last n observations, or those of the last n steps of the run. */
  readonly span: "draws" | "steps"
  /** The value of an instruction that was never sampled: 0, or the mean of the known values. */
  readonly unseen: "zero" | "mean"
  readonly ties: Ranking.Ties
  /** How I* is chosen while no value is known, as after a reset: by value, or by lifetime mean, else verification score. */
  readonly best: "value" | "evidence"
  /** How a missing reward counts; by default `worst`. */
  readonly missingRewards?: MissingRewards
}

/**
 * As in the paper: the sum over the instruction's own last n observations is divided by n even if there are fewer, an
 * instruction that was never sampled has the value 0, I* is argmax w, and ties keep the order of the population.
 *
 * @example
 * ```ts
 * import type { Instruction } from "@inspo/domain"
 * import { Population } from "@inspo/population"
 *
 * declare const seed: Instruction.Instruction
 * declare const variant: Instruction.Instruction
 *
 * const valuation = Population.lastDraws({ window: 5 })
 * const before = Population.begin([seed, variant])
 * const after = valuation.observe(before, 1, [{ instructionId: seed.id, rewards: [1, 1, 1] }])
 * valuation.values(after) // value 0.2 for the seed, 0 for the variant
 * ```
 */
export const lastDraws = (options: Pick<Choices, "window">): Interface =>
  make({ ...options, average: "window", span: "draws", unseen: "zero", ties: "order", best: "value" })

/**
 * The mean over the steps observed within the last n steps of the run. An instruction that was not
 * drawn for n steps keeps its last value, marked stale. One that was never sampled has the mean of the known values, which
 * neither favours nor penalises it. Ties: more groups first, then the older.
 *
 * While no value is known, such as right after a reset, I* is the best by lifetime mean or, for an instruction without one,
 * by its verification score; ties go to the parent, which was observed longer.
 */
export const recentSteps = (options: Pick<Choices, "window">): Interface => make({ ...defaults, ...options })

const defaults: Choices = {
  window: 5,
  average: "observed",
  span: "steps",
  unseen: "mean",
  ties: "evidence",
  best: "evidence"
}

/** Any combination of options; by default as {@link recentSteps} with a window of 5. With an empty window the last value is kept, marked stale. */
export const make = (chosen: Partial<Choices> = {}): Interface => {
  const choices = { ...defaults, ...chosen }
  const { average, best, missingRewards = "worst", span, ties, unseen, window } = choices
  InvalidInput.assertCount("Population.make", "window", window, 1)
  const ranking = Ranking.byTies[ties]
  const values = fill(unseen === "zero" ? () => 0 : meanOfKnown)
  return {
    identity: {
      name: "moving-average",
      parameters: {
        window,
        average,
        span,
        unseen,
        ties,
        best,
        ...(missingRewards === "worst" ? {} : { missing: missingRewards.value })
      }
    },
    observe: (population, step, groups) => observe(choices, population, step, groups),
    values,
    best: (population) =>
      Arr.head(
        ranking(
          population,
          best === "value" || population.members.some((member) => member.value !== null)
            ? values(population)
            : population.members.map(score)
        )
      )
  }
}

/**
 * The expected reward of each member by its {@link Comparison}: the mean reward of the last steps plus how much better the
 * member is within questions. I* is the incumbent of the comparison. By default `observe` keeps the last 5 steps.
 */
export const comparing = (averaging: Averaging = defaults): Interface => ({
  identity: { name: "comparison", parameters: { window: averaging.window } },
  observe: (population, step, groups) => observe(averaging, population, step, groups),
  values: (population) => {
    const { comparison, members } = population
    const { means } = Comparison.posterior(comparison)
    const seen = members.map(({ window }) => totalOfWindow(window))
    const samples = sumAll(seen.map(({ count }) => count))
    const level =
      samples === 0
        ? (comparison.sum + 1) / (comparison.samples + 2)
        : sumAll(seen.map(({ count, sum }, place) => sum - count * Invariant.at(means, place, "mean"))) / samples
    return withChances(
      population,
      members.map(({ instruction }, place) => ({
        id: instruction.id,
        value: level + Invariant.at(means, place, "mean")
      }))
    )
  },
  best: (population) => Option.fromNullishOr(incumbent(population))
})

/** {@link comparing} over the last 5 steps. */
export const compare: Interface = comparing()

const totalOfWindow = (window: ReadonlyArray<WindowEntry>): { readonly count: number; readonly sum: number } => ({
  count: sumAll(window.map(({ trajectories }) => trajectories)),
  sum: sumAll(window.map(({ mean, trajectories }) => mean * trajectories))
})

const withChances = ({ comparison }: Contents, values: ReadonlyArray<Value>): ReadonlyArray<Value> =>
  values.map((value, place) => ({ ...value, chance: Invariant.at(comparison.chances, place, "chance") }))

/** The rewards that the window keeps, and how they are averaged. */
export type Averaging = Pick<Choices, "average" | "missingRewards" | "span" | "window">

/** The statistics after the groups of step `step`, as in {@link Interface.observe}: a fold without choices. */
export const observe = (
  averaging: Averaging,
  population: Contents,
  step: number,
  groups: ReadonlyArray<Observed>
): Contents => {
  assertObservable(population, step, groups)
  const outcomes = groups.map((group) => outcomeOf(averaging.missingRewards ?? "worst", group))
  const grouped = byInstruction(outcomes)
  const members = population.members.map((member) => {
    const all = grouped.get(member.instruction.id) ?? []
    const own = all.filter(({ rewards }) => rewards.length > 0)
    const window = inSpan(
      averaging,
      own.length === 0 ? member.window : [...member.window, windowEntry(step, own)],
      step
    )
    const known = window.length > 0
    const divisor = averaging.average === "window" ? averaging.window : window.length
    return {
      ...member,
      window,
      value: known ? sumAll(window.map((entry) => entry.mean)) / divisor : member.value,
      stale: !known && member.value !== null,
      lifetime: extend(member.lifetime, all, own)
    }
  })
  return { ...population, members, step, comparison: compared({ ...population, members }, step, outcomes) }
}

/** The comparison of the members after the groups of a step. */
const compared = (
  { comparison, members }: Contents,
  step: number,
  outcomes: ReadonlyArray<Outcome>
): Comparison.Comparison => {
  const arranged = Blocks.arrange(
    outcomes.map(({ high, instructionId, low, question = null, samples, stratum = "" }) => ({
      instruction: instructionId,
      question,
      stratum,
      samples,
      low: low * samples,
      high: high * samples
    })),
    comparison.waiting,
    members.length
  )
  const { sum, trajectories: samples } = totalOf(outcomes)
  return Comparison.observe(
    comparison,
    members.map(({ instruction }) => instruction.id),
    { ...arranged, rewards: { samples, sum }, missing: missingShares(members), step }
  )
}

/** A group with its mean reward in the worst and in the best case. */
interface Outcome extends Observed {
  readonly samples: number
  readonly low: number
  readonly high: number
}

const outcomeOf = (missingRewards: MissingRewards, observed: Observed): Outcome => {
  const { missing = 0, rewards: reported } = observed
  const isWorst = missingRewards === "worst"
  const rewards =
    isWorst || missing === 0 ? reported : [...reported, ...Array.from({ length: missing }, () => missingRewards.value)]
  const unknown = isWorst ? missing : 0
  const sum = rewards.reduce((total, reward) => total + reward, 0)
  const samples = rewards.length + unknown
  return { ...observed, rewards, samples, low: sum / samples, high: (sum + unknown) / samples }
}

const inSpan = (
  { span, window: n }: Averaging,
  window: ReadonlyArray<WindowEntry>,
  step: number
): ReadonlyArray<WindowEntry> => (span === "draws" ? window.slice(-n) : window.filter((entry) => entry.step > step - n))

const fill =
  (unknown: (population: Contents) => number) =>
  (population: Contents): ReadonlyArray<Value> => {
    const otherwise = unknown(population)
    return withChances(
      population,
      population.members.map((member) => ({ id: member.instruction.id, value: member.value ?? otherwise }))
    )
  }

const meanOfKnown = (population: Contents): number => {
  const known = population.members.flatMap((member) => (member.value === null ? [] : [member.value]))
  return known.length === 0 ? 0 : sumAll(known) / known.length
}

/** The mean reward of a member apart from its value: by lifetime, else by verification; 0 without either. */
const score = (member: Member): Value => ({
  id: member.instruction.id,
  value: Option.getOrElse(lifetimeMean(member), () => (member.verification === null ? 0 : member.verification.mean))
})

const windowEntry = (step: number, groups: ReadonlyArray<Observed>): WindowEntry => {
  const { sum, trajectories } = totalOf(groups)
  return { step, mean: sum / trajectories, trajectories, groups: groups.length }
}

/** The sum of all rewards, in their order. With thousands of groups, a flat array of them would cost more than the sum. */
const totalOf = (groups: ReadonlyArray<Observed>): { readonly sum: number; readonly trajectories: number } => {
  let sum = 0
  let trajectories = 0
  for (const { rewards } of groups) {
    for (const reward of rewards) sum += reward
    trajectories += rewards.length
  }
  return { sum, trajectories }
}

const byInstruction = (
  groups: ReadonlyArray<Outcome>
): ReadonlyMap<Instruction.InstructionId, ReadonlyArray<Outcome>> => {
  const grouped = new Map<Instruction.InstructionId, Array<Outcome>>()
  for (const group of groups) {
    const known = grouped.get(group.instructionId)
    if (known === undefined) grouped.set(group.instructionId, [group])
    else known.push(group)
  }
  return grouped
}

const extend = (lifetime: Lifetime, groups: ReadonlyArray<Outcome>, rewarded: ReadonlyArray<Outcome>): Lifetime => {
  if (groups.length === 0) return lifetime
  const { sum, trajectories } = totalOf(rewarded)
  const { bounds } = lifetime
  return {
    groups: lifetime.groups + rewarded.length,
    trajectories: lifetime.trajectories + trajectories,
    rewardSum: lifetime.rewardSum + sum,
    bounds: {
      groups: bounds.groups + groups.length,
      low: bounds.low + sumAll(groups.map(({ low }) => low)),
      high: bounds.high + sumAll(groups.map(({ high }) => high))
    }
  }
}

const assertObservable = (population: Contents, step: number, groups: ReadonlyArray<Observed>): void => {
  InvalidInput.assertCount(where, "step", step, 1)
  if (step <= population.step)
    InvalidInput.refuse({
      where,
      field: "step",
      value: step,
      expected: `a step after ${population.step}, whose rewards are known`
    })
  const present = new Set(ids(population))
  for (const { instructionId, missing = 0, rewards } of groups) {
    if (!present.has(instructionId))
      InvalidInput.refuse({ where, field: "instructionId", value: instructionId, expected: "the id of a member" })
    if (rewards.length + missing === 0)
      InvalidInput.refuse({
        where,
        field: `rewards of ${instructionId}`,
        value: rewards,
        expected: "at least one, or a missing one"
      })
    InvalidInput.assertRewards(where, `rewards of ${instructionId}`, rewards)
  }
}

const where = "Population.observe"
