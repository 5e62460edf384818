import { Option, Schema } from "effect"
import { Instruction, InstructionId } from "@inspo/domain/Instruction"
import { refuse } from "@inspo/domain/InvalidInput"
import { Reward } from "@inspo/domain/Trajectory"
import * as Comparison from "./Comparison.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/**
 * The observation of an instruction in one step: the mean reward over all its trajectories in that step (r̄ of Eq. 6), and the
 * number of trajectories and groups behind it.
 */
export const WindowEntry = Schema.Struct({
  step: Schema.Int,
  mean: Reward,
  trajectories: Schema.Int.check(Schema.isGreaterThan(0)),
  groups: Schema.Int.check(Schema.isGreaterThan(0))
})
export interface WindowEntry extends Schema.Schema.Type<typeof WindowEntry> {}

/**
 * The sums of the mean rewards of `groups` groups, plus 1/2 for one assumed group before the first: `low` with 0 for every
 * missing reward, `high` with 1. They are equal if none is missing.
 */
export const Bounds = Schema.Struct({ groups: Count, low: Schema.Finite, high: Schema.Finite })
export interface Bounds extends Schema.Schema.Type<typeof Bounds> {}

/**
 * The statistics of an instruction since it joined, of a size that does not grow with the run; kept by `resetWindows`.
 * `groups` counts those with a reward, `bounds` all of them.
 */
export const Lifetime = Schema.Struct({
  groups: Count,
  trajectories: Count,
  rewardSum: Schema.Finite,
  bounds: Bounds
})
export interface Lifetime extends Schema.Schema.Type<typeof Lifetime> {}

/**
 * Mean reward of a candidate on its verification set, the number of groups behind it, and, if it was compared, the rival and
 * the rival's mean.
 */
export const Verification = Schema.Struct({
  mean: Reward,
  groups: Count,
  rival: Schema.NullOr(Schema.Struct({ id: InstructionId, mean: Reward }))
})
export interface Verification extends Schema.Schema.Type<typeof Verification> {}

/**
 * An instruction of the population with the evidence for it.
 *
 * `window` holds the steps that `value` averages, oldest first. `value` is null until the instruction is sampled, and
 * again after a reset. `stale` means that the value is older than the window. `verification` is null for an instruction that
 * joined unverified.
 */
export const Member = Schema.Struct({
  instruction: Instruction,
  window: Schema.Array(WindowEntry),
  value: Schema.NullOr(Schema.Finite),
  stale: Schema.Boolean,
  lifetime: Lifetime,
  verification: Schema.NullOr(Verification)
})
export interface Member extends Schema.Schema.Type<typeof Member> {}

/** The members in the order in which they joined, the last observed step, 0 before any, and how the members compare. */
export const Population = Schema.Struct({
  members: Schema.Array(Member),
  step: Count,
  comparison: Comparison.Comparison
})
export interface Population extends Schema.Schema.Type<typeof Population> {}

/** The value of an instruction, such as w_j (Eq. 6), and its probability of being the best, where it is computed. */
export const Value = Schema.Struct({
  id: InstructionId,
  value: Schema.Finite,
  chance: Schema.optionalKey(Schema.Finite)
})
export interface Value extends Schema.Schema.Type<typeof Value> {}

/** The lifetime of an instruction that was never sampled. */
export const unobserved: Lifetime = {
  groups: 0,
  trajectories: 0,
  rewardSum: 0,
  bounds: { groups: 0, low: 1 / 2, high: 1 / 2 }
}

/** An instruction about to join, with its verification score if it has one. */
export interface Newcomer {
  readonly instruction: Instruction
  readonly verification: Verification | null
}

/** The population before the first step, without evidence about any instruction. */
export const make = (instructions: ReadonlyArray<Instruction>, prior?: Comparison.Prior): Population =>
  add(
    { members: [], step: 0, comparison: { ...Comparison.empty, ...(prior === undefined ? {} : { prior }) } },
    instructions.map((instruction) => ({ instruction, verification: null }))
  )

/**
 * Adds newcomers as one entry, after the present members and without evidence. Throws `InvalidInput` on the id of a member.
 */
export const add = (population: Population, newcomers: ReadonlyArray<Newcomer>): Population => {
  if (newcomers.length === 0) return population
  const present = new Set(ids(population))
  const members = newcomers.map(({ instruction, verification }): Member => {
    const { id } = instruction
    if (present.has(id))
      refuse({ where: "Population.add", field: "newcomer", value: id, expected: "an id that is not a member's" })
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
export const remove = (population: Population, dropped: Iterable<InstructionId>): Population => {
  const dropping = new Set(dropped)
  const present = new Set(ids(population))
  for (const id of dropping)
    if (!present.has(id)) refuse({ where: "Population.remove", field: "id", value: id, expected: "the id of a member" })
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
export const resetWindows = (population: Population): Population => ({
  ...population,
  members: population.members.map((member) => ({ ...member, window: [], value: null, stale: false }))
})

/** The instructions of the members, in order of entry. */
export const instructions = (population: Population): ReadonlyArray<Instruction> =>
  population.members.map((member) => member.instruction)

/** The ids of the members, in order of entry. */
export const ids = (population: Population): ReadonlyArray<InstructionId> =>
  population.members.map((member) => member.instruction.id)

/** The member with this id, if there is one. */
export const find = (population: Population, id: InstructionId): Option.Option<Member> =>
  Option.fromNullishOr(population.members.find((member) => member.instruction.id === id))

/** The best member by the comparison, if there is a member. */
export const incumbent = ({ comparison, members }: Population): Member | undefined => members[comparison.incumbent]

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
export const lineage = (instructions: Iterable<Instruction>, id: InstructionId): ReadonlyArray<Instruction> => {
  const known = new Map(Array.from(instructions, (instruction) => [instruction.id, instruction]))
  const line: Array<Instruction> = []
  let current = known.get(id)
  while (current !== undefined) {
    line.unshift(current)
    // Visited instructions are removed, so that this ends even for a circular record.
    known.delete(current.id)
    current = current.parent === null ? undefined : known.get(current.parent)
  }
  return line
}
