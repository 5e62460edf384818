/** How likely each member is leased in a cohort: softmax (Eq. 4), with a floor for the seed and a cap for newcomers. */
import type { InstructionId } from "@inspo/domain/Instruction"
import { unobserved, type Value } from "@inspo/population/Population"
import { probabilities } from "@inspo/sampler/Sampler"
import { isAlive } from "@inspo/evolution/State"
import { type Learning, statsOf } from "./Learning.ts"
import type { Settings } from "./Settings.ts"
import type { Share } from "./State.ts"

/**
 * The shares of a cohort, which sum to 1. All newcomers together have at most `newcomerShare` while anybody else is alive, and
 * the seed has at least `seedShare` while it is.
 */
export const shares = (
  { newcomerShare, seedShare, temperature }: Pick<Settings["sampler"], "newcomerShare" | "seedShare" | "temperature">,
  learning: Learning,
  values: ReadonlyArray<Value>
): ReadonlyArray<Share> => {
  const drawn = probabilities(
    values.map(({ value }) => value),
    temperature
  )
  const equal = values.map(({ id }, index) => ({ id, probability: drawn[index] ?? 0 }))
  const newcomers = new Set(values.map(({ id }) => id).filter((id) => statsOf(learning, id).isNewcomer))
  const capped = newcomers.size < values.length ? atMost(equal, newcomers, newcomerShare) : equal
  return isAlive(learning.population, learning.seed) ? atLeast(capped, learning.seed, seedShare) : capped
}

/**
 * Values that shares may follow: missing rewards count as what makes members most alike, so that shares differ by no more
 * than the reported rewards leave certain, as pruning does. Where no reward is missing they stay to the bit.
 */
export const certain = (learning: Learning, values: ReadonlyArray<Value>): ReadonlyArray<Value> => {
  const bounds = new Map(
    learning.population.members.map(({ instruction, lifetime }) => [instruction.id, lifetime.bounds])
  )
  const ranges = values.map(({ id, value }) => {
    const { groups, high, low } = bounds.get(id) ?? unobserved.bounds
    const missing = groups === 0 ? 0 : (high - low) / groups
    const least = value * (1 - missing)
    return { id, groups, value, least, most: least + missing }
  })
  const known = ranges.filter(({ groups }) => groups > 0)
  if (known.every(({ least, most }) => least === most)) return values
  const centre = (Math.max(...known.map(({ least }) => least)) + Math.min(...known.map(({ most }) => most))) / 2
  const nearest = ({ least, most }: (typeof ranges)[number]) => Math.min(most, Math.max(least, centre))
  const mean = known.reduce((total, one) => total + nearest(one), 0) / known.length
  return ranges.map((one) => ({ id: one.id, value: one.groups === 0 ? mean : nearest(one) }))
}

const atMost = (shares: ReadonlyArray<Share>, some: ReadonlySet<InstructionId>, cap: number): ReadonlyArray<Share> => {
  const held = sum(shares.filter(({ id }) => some.has(id)))
  if (held <= cap) return shares
  const others = shares.filter(({ id }) => !some.has(id))
  const left = sum(others)
  return shares.map(({ id, probability }) => ({
    id,
    probability: some.has(id)
      ? (probability * cap) / held
      : left > 0
        ? (probability * (1 - cap)) / left
        : (1 - cap) / others.length
  }))
}

const atLeast = (shares: ReadonlyArray<Share>, one: InstructionId, floor: number): ReadonlyArray<Share> => {
  const held = sum(shares.filter(({ id }) => id === one))
  if (held >= floor) return shares
  return shares.map(({ id, probability }) => ({
    id,
    probability: id === one ? floor : (probability * (1 - floor)) / (1 - held)
  }))
}

const sum = (shares: ReadonlyArray<Share>): number => shares.reduce((total, { probability }) => total + probability, 0)
