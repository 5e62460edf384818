/** A population: its members and the evidence about them. Pure functions without schemas and services; the schemas are in `Contents`. */
import * as Option from "effect/Option"
import * as InvalidInput from "@inspo/domain/InvalidInput"
import type { Instruction } from "@inspo/domain"
import * as Comparison from "./Comparison.ts"
import type { Contents, Lifetime, Member, Verification } from "./Contents.ts"

/** The lifetime of an instruction that was never sampled. */
export const unobserved: Lifetime = {
  groups: 0,
  trajectories: 0,
  rewardSum: 0,
  bounds: { groups: 0, low: 1 / 2, high: 1 / 2 }
}

/** An instruction about to join, with its verification score if it has one. */
export interface Newcomer {
  readonly instruction: Instruction.Instruction
  readonly verification?: Verification | null
}

/**
 * The population before the first step, without evidence about any instruction. Texts become instructions with the ids `i0`, `i1`, …:
 * the first is the seed, the others are variants of it. Throws `InvalidInput` on an empty text, and on an id that occurs twice.
 */
export const begin = (
  instructions: ReadonlyArray<Instruction.Instruction | string>,
  prior?: Comparison.Prior
): Contents =>
  add(
    { members: [], step: 0, comparison: { ...Comparison.empty, ...(prior === undefined ? {} : { prior }) } },
    instructions.map((one, place) => ({ instruction: typeof one === "string" ? initial(one, place) : one }))
  )

const initial = (text: string, place: number): Instruction.Instruction => {
  if (text.trim() === "")
    InvalidInput.refuse({
      where: "Population.begin",
      field: `instructions[${place}]`,
      value: "empty",
      expected: "a text"
    })
  return {
    id: idOf(place),
    text,
    generation: 0,
    parent: null,
    origin: place === 0 ? "seed" : "variant",
    bornAt: 0
  }
}

const idOf = (place: number): Instruction.InstructionId => {
  const id: string = `i${place}`
  return isId(id) ? id : InvalidInput.refuse({ where: "Population.begin", field: "id", value: id, expected: "a text" })
}

const isId = (id: string): id is Instruction.InstructionId => id !== ""

/** Adds newcomers as one entry, after the present members and without evidence. Throws `InvalidInput` on the id of a member. */
export const add = (population: Contents, newcomers: ReadonlyArray<Newcomer>): Contents => {
  if (newcomers.length === 0) return population
  const present = new Set(ids(population))
  const members = newcomers.map(({ instruction, verification = null }): Member => {
    const { id } = instruction
    if (present.has(id))
      InvalidInput.refuse({
        where: "Population.add",
        field: "newcomer",
        value: id,
        expected: "an id that is not a member's"
      })
    present.add(id)
    return { instruction, window: [], value: null, stale: false, lifetime: unobserved, verification }
  })
  const all = [...population.members, ...members]
  return {
    ...population,
    members: all,
    comparison: Comparison.enter(population.comparison, newcomers.length, {
      missing: missingShares(all),
      step: population.step
    })
  }
}

/** The share of each member's rewards that are missing, in [0, 1]. */
export const missingShares = (members: ReadonlyArray<Pick<Member, "lifetime">>): ReadonlyArray<number> =>
  members.map(({ lifetime: { bounds } }) => (bounds.groups === 0 ? 0 : (bounds.high - bounds.low) / bounds.groups))

/** Removes the named members and the evidence about them. Throws `InvalidInput` on an id that is not a member's. */
export const remove = (population: Contents, dropped: Iterable<Instruction.InstructionId>): Contents => {
  const dropping = new Set(dropped)
  const present = new Set(ids(population))
  for (const id of dropping)
    if (!present.has(id))
      InvalidInput.refuse({ where: "Population.remove", field: "id", value: id, expected: "the id of a member" })
  const members = population.members.filter(({ instruction }) => !dropping.has(instruction.id))
  return {
    ...population,
    members,
    comparison: Comparison.leave(population.comparison, ids(population), dropping, {
      missing: missingShares(members),
      step: population.step
    })
  }
}

/** Resets the windows and values of all members, parents included, as every evolution does; lifetime records stay. */
export const resetWindows = (population: Contents): Contents => ({
  ...population,
  members: population.members.map((member) => ({ ...member, window: [], value: null, stale: false }))
})

/** The instructions of the members, in order of entry. */
export const instructions = (population: Contents): ReadonlyArray<Instruction.Instruction> =>
  population.members.map((member) => member.instruction)

/** The ids of the members, in order of entry. */
export const ids = (population: Contents): ReadonlyArray<Instruction.InstructionId> =>
  population.members.map((member) => member.instruction.id)

/** The member with this id, if there is one. */
export const find = (population: Contents, id: Instruction.InstructionId): Option.Option<Member> =>
  Option.fromNullishOr(population.members.find((member) => member.instruction.id === id))

/** The best member by the comparison, if there is a member. */
export const incumbent = ({ comparison, members }: Contents): Member | undefined => members[comparison.incumbent]

/** Whether there were rewards, and all of them were 0. */
export const isUnrewarded = ({ comparison }: Contents): boolean => comparison.samples > 0 && comparison.sum === 0

/** Mean reward over all trajectories since the instruction joined; none before the first. */
export const lifetimeMean = (member: Member): Option.Option<number> =>
  member.lifetime.trajectories === 0
    ? Option.none()
    : Option.some(member.lifetime.rewardSum / member.lifetime.trajectories)

/**
 * The line of descent of an instruction: its oldest known ancestor first, itself last; empty when the id is unknown.
 *
 * `instructions` are all instructions of the run, since ancestors may have been pruned.
 */
export const lineage = (
  instructions: Iterable<Instruction.Instruction>,
  id: Instruction.InstructionId
): ReadonlyArray<Instruction.Instruction> => {
  const known = new Map(Array.from(instructions, (instruction) => [instruction.id, instruction]))
  const line: Array<Instruction.Instruction> = []
  let current = known.get(id)
  while (current !== undefined) {
    line.unshift(current)
    // Visited instructions are removed, so that this ends even for a circular record.
    known.delete(current.id)
    current = current.parent === null ? undefined : known.get(current.parent)
  }
  return line
}
