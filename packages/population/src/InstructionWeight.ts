/**
 * The weight of an instruction: the moving average of its mean reward per step (Eq. 6), in two readings of what the paper
 * leaves open.
 */
import { Array as Arr, Option } from "effect"
import { type Group, meanReward } from "@inspo/domain/Group"
import {
  type Lifetime,
  lifetimeMean,
  type Member,
  type Population,
  type Weight,
  type WindowEntry
} from "./Population.ts"
import * as Ranking from "./Ranking.ts"

/** The part of a group that weights rest on. */
export type Observed = Pick<Group, "instructionId" | "rewards">

/** How rewards become weights, and weights an order. All functions are pure. */
export interface Policy {
  /**
   * Credits the groups of step `step` to the instructions they were rolled out under. Called once per step, with
   * increasing steps; groups of instructions that are not members are ignored.
   */
  readonly observe: (population: Population, step: number, groups: ReadonlyArray<Observed>) => Population
  /** w_j of every member, in the order of the population; never-sampled members get the policy's default. */
  readonly weights: (population: Population) => ReadonlyArray<Weight>
  /** Members, best first, by their present weights. */
  readonly rank: (population: Population) => ReadonlyArray<Member>
  /** I*: the instruction to return and to use at inference; none only when the population is empty. */
  readonly best: (population: Population) => Option.Option<Member>
}

/** `window` is n of Eq. 6, in steps, at least 1. */
export interface Options {
  readonly window: number
}

/**
 * The letter of the paper: the sum over the instruction's own last n observations is divided by n even when there are
 * fewer, an instruction that was never sampled weighs 0, I* is argmax w, and ties keep the order of the population.
 *
 * @example
 * ```ts
 * import type { Instruction } from "@inspo/domain"
 * import { InstructionWeight, Population } from "@inspo/population"
 *
 * declare const seed: Instruction.Instruction
 * declare const variant: Instruction.Instruction
 *
 * const policy = InstructionWeight.paper({ window: 5 })
 * const before = Population.make([seed, variant])
 * const after = policy.observe(before, 1, [{ instructionId: seed.id, rewards: [1, 1, 1] }])
 * policy.weights(after) // weight 0.2 for the seed, 0 for the variant
 * ```
 */
export const paper = (options: Options): Policy => {
  const weights = fill(() => 0)
  const rank = (population: Population) => Ranking.stable(population, weights(population))
  return {
    observe: (population, step, groups) => {
      const grouped = Map.groupBy(groups, (group) => group.instructionId)
      const members = population.members.map((member) => {
        const own = grouped.get(member.instruction.id)
        if (own === undefined) return member
        const window = [...member.window, windowEntry(step, own)].slice(-options.window)
        return {
          ...member,
          window,
          weight: sum(window.map((entry) => entry.mean)) / options.window,
          lifetime: extend(member.lifetime, own)
        }
      })
      return { members }
    },
    weights,
    rank,
    best: (population) => Arr.head(rank(population))
  }
}

/**
 * What we would defend: the mean over the steps observed within the last n steps of the run. An instruction that was not
 * drawn for n steps keeps its last weight, marked stale. One that was never sampled weighs the mean of the known weights,
 * so that it is neither punished nor favoured. Ties: more groups first, then the older.
 *
 * While no weight is known, as right after a reset, I* is the best by lifetime mean or, for an instruction that has none,
 * by its verification score; ties go to the parent, which has been observed longer.
 */
export const robust = (options: Options): Policy => {
  const weights = fill(meanOfKnown)
  const rank = (population: Population) => Ranking.explored(population, weights(population))
  return {
    observe: (population, step, groups) => {
      const grouped = Map.groupBy(groups, (group) => group.instructionId)
      const members = population.members.map((member) => {
        const own = grouped.get(member.instruction.id) ?? []
        const recent = member.window.filter((entry) => entry.step > step - options.window)
        const window = own.length === 0 ? recent : [...recent, windowEntry(step, own)]
        const known = window.length > 0
        return {
          ...member,
          window,
          weight: known ? sum(window.map((entry) => entry.mean)) / window.length : member.weight,
          stale: !known && member.weight !== null,
          lifetime: extend(member.lifetime, own)
        }
      })
      return { members }
    },
    weights,
    rank,
    best: (population) =>
      Arr.head(
        population.members.some((member) => member.weight !== null)
          ? rank(population)
          : Ranking.explored(population, population.members.flatMap(score))
      )
  }
}

const fill =
  (unknown: (population: Population) => number) =>
  (population: Population): ReadonlyArray<Weight> => {
    const otherwise = unknown(population)
    return population.members.map((member) => ({ id: member.instruction.id, weight: member.weight ?? otherwise }))
  }

const meanOfKnown = (population: Population): number => {
  const known = population.members.flatMap((member) => (member.weight === null ? [] : [member.weight]))
  return known.length === 0 ? 0 : sum(known) / known.length
}

/** What is known of a member apart from its weight; empty when nothing is. */
const score = (member: Member): ReadonlyArray<Weight> =>
  lifetimeMean(member).pipe(
    Option.orElse(() => Option.map(Option.fromNullishOr(member.verification), ({ mean }) => mean)),
    Option.map((weight) => ({ id: member.instruction.id, weight })),
    Option.toArray
  )

const windowEntry = (step: number, groups: ReadonlyArray<Observed>): WindowEntry => {
  const rewards = groups.flatMap((group) => group.rewards)
  return { step, mean: sum(rewards) / rewards.length, trajectories: rewards.length, groups: groups.length }
}

const extend = (lifetime: Lifetime, groups: ReadonlyArray<Observed>): Lifetime => {
  const rewards = groups.flatMap((group) => group.rewards)
  const means = groups.map(meanReward)
  return {
    groups: lifetime.groups + groups.length,
    trajectories: lifetime.trajectories + rewards.length,
    rewardSum: lifetime.rewardSum + sum(rewards),
    groupMeanSum: lifetime.groupMeanSum + sum(means),
    groupMeanSquareSum: lifetime.groupMeanSquareSum + sum(means.map((mean) => mean * mean))
  }
}

const sum = (values: ReadonlyArray<number>): number => values.reduce((total, value) => total + value, 0)
