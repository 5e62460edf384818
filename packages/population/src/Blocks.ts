/**
 * Arranges the groups of a unit of time into blocks: what several instructions earned on the same question or, without shared
 * questions, in the same stratum of the same unit of time. What a block has in common cancels in its differences.
 */
import * as Arr from "effect/Array"
import { sumAll } from "effect/Number"
import * as Invariant from "@inspo/domain/Invariant"
import type { Instruction } from "@inspo/domain"

/** The rewards of one instruction on one question: `low` and `high` are their sums with 0 and 1 for each missing one. */
export interface Scored {
  readonly instruction: Instruction.InstructionId
  readonly question: string | null
  readonly stratum: string
  readonly samples: number
  readonly low: number
  readonly high: number
}

/** The mean reward of an instruction in a block, at worst and at best. `weight` is the inverse variance, in units of one sample's. */
export interface Cell {
  readonly instruction: Instruction.InstructionId
  readonly weight: number
  readonly low: number
  readonly high: number
}
export type Block = ReadonlyArray<Cell>

/** Groups of one instruction that wait for a rival: how many, and the sums of their means. */
export interface Waiting {
  readonly instruction: Instruction.InstructionId
  readonly groups: number
  readonly samples: number
  readonly low: number
  readonly high: number
}

/**
 * The blocks of a unit of time, and the groups that wait for a later one. A question asked under several instructions is a
 * block. The other groups of a stratum are dealt into as many blocks as the second most frequent instruction has groups. Where
 * a unit holds groups of one instruction only, as in cohorts of one group, they wait for groups of another one in the next
 * units, until they are as many as there are `members`: this assumes that the policy hardly changes in between.
 */
export const arrange = (
  groups: ReadonlyArray<Scored>,
  waiting: ReadonlyArray<Waiting>,
  members: number
): { readonly blocks: ReadonlyArray<Block>; readonly waiting: ReadonlyArray<Waiting> } => {
  const blocks: Array<Block> = []
  const single: Array<Scored> = []
  for (const own of groupedBy(groups, ({ question }) => question)) {
    const byInstruction = groupedBy(own, ({ instruction }) => instruction)
    if (own[0].question === null || byInstruction.length < 2) single.push(...own)
    else blocks.push(byInstruction.map(onQuestion))
  }
  const alone: Array<Scored> = []
  for (const own of groupedBy(single, ({ stratum }) => stratum)) {
    const dealt = deal(hands(own))
    if (dealt.length === 0) alone.push(...own)
    blocks.push(...dealt)
  }
  const across = deal(hands(alone))
  if (across.length > 0 || alone.length === 0) return { blocks: [...blocks, ...across], waiting }
  const joined = join(waiting, alone, memory)
  const isDue = joined.length > 1 && sumAll(joined.map(({ groups }) => groups)) >= Math.max(2, members)
  return isDue ? { blocks: [...blocks, joined.map(average)], waiting: [] } : { blocks, waiting: joined }
}

/** What one instruction, of at least one group, earned on a question. */
export const onQuestion = (own: ReadonlyArray<Scored>): Cell => {
  const samples = sumAll(own.map((one) => one.samples))
  return {
    instruction: Invariant.at(own, 0, "group").instruction,
    weight: 1 / (interaction + 1 / samples),
    low: sumAll(own.map(({ low }) => low)) / samples,
    high: sumAll(own.map(({ high }) => high)) / samples
  }
}

/** Deals the groups of each instruction, round robin, into blocks; none with fewer than two instructions. */
export const deal = (hands: ReadonlyArray<ReadonlyArray<Scored>>): ReadonlyArray<Block> => {
  const [, count = 0] = hands.map(({ length }) => length).toSorted((a, b) => b - a)
  const blocks = Array.from({ length: count }, (): Array<Cell> => [])
  for (const hand of hands) {
    const piles = Array.from({ length: Math.min(count, hand.length) }, (): Array<Scored> => [])
    for (const [index, group] of hand.entries()) piles[index % count]?.push(group)
    for (const [place, pile] of piles.entries()) blocks[place]?.push(...join([], pile, Infinity).map(average))
  }
  return blocks
}

/** The part of the variance of a mean reward that more samples of the same question do not reduce: question × instruction. */
const interaction = 0.1
/** The variance between questions, which only counts between different ones. */
const betweenQuestions = 0.36
/** The most groups of an instruction that wait: older ones fade, since the policy changes. */
const memory = 8

/** In the order of the first of each group. Quoted keys keep it, since names such as "12" would come first. */
const groupedBy = (
  groups: ReadonlyArray<Scored>,
  key: (group: Scored) => string | null
): ReadonlyArray<Arr.NonEmptyArray<Scored>> => Object.values(Arr.groupBy(groups, (group) => JSON.stringify(key(group))))

const hands = (groups: ReadonlyArray<Scored>) => groupedBy(groups, ({ instruction }) => instruction)

/** Adds groups; beyond `most` groups of an instruction the earlier ones fade. */
const join = (waiting: ReadonlyArray<Waiting>, groups: ReadonlyArray<Scored>, most: number): ReadonlyArray<Waiting> => {
  const sums = new Map(waiting.map((one) => [one.instruction, one]))
  for (const { high, instruction, low, samples } of groups) {
    const known = sums.get(instruction) ?? { instruction, groups: 0, samples: 0, low: 0, high: 0 }
    const kept = known.groups < most ? 1 : (most - 1) / known.groups
    sums.set(instruction, {
      instruction,
      groups: known.groups * kept + 1,
      samples: known.samples * kept + samples,
      low: known.low * kept + low / samples,
      high: known.high * kept + high / samples
    })
  }
  return [...sums.values()]
}

const average = ({ groups, high, instruction, low, samples }: Waiting): Cell => ({
  instruction,
  weight: groups / (interaction + betweenQuestions + groups / samples),
  low: low / groups,
  high: high / groups
})
