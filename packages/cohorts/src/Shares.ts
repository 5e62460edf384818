/** How likely each member is leased in a cohort: Thompson shares, with a floor for the seed and a cap for newcomers. */
import type { Instruction } from "@inspo/domain"
import type { Population } from "@inspo/population"
import { Shares } from "@inspo/sampler"
import { isAlive } from "@inspo/evolution"
import { isPaused, type Learning, statsOf } from "./Learning.ts"
import type { Settings } from "./Settings.ts"
import type { Share } from "./State.ts"

/**
 * The shares of a cohort, which sum to 1. A paused member has none. All newcomers together have at most `newcomerShare` while there are other members. The seed
 * has at least `seedShare` until another member is known to be better, and then at least a quarter of it.
 */
export const shares = (
  { newcomerShare, seedShare }: Pick<Settings["sampler"], "newcomerShare" | "seedShare">,
  learning: Learning,
  values: ReadonlyArray<Population.Value>
): ReadonlyArray<Share> => {
  const drawn = Shares.thompson(values)
  const all = values.map(({ id }, index) => ({ id, probability: drawn[index] ?? 0 }))
  const leased = all.filter(({ id }) => !isPaused(learning.stats, id))
  const held = sum(leased)
  const equal = leased.map(({ id, probability }) => ({
    id,
    probability: held > 0 ? probability / held : 1 / leased.length
  }))
  const newcomers = new Set(leased.map(({ id }) => id).filter((id) => statsOf(learning, id).isNewcomer))
  const capped =
    newcomers.size < leased.length ? atMost(equal, newcomers, stepOf(newcomerShare, learning, newcomers)) : equal
  const isKnown = learning.incumbent.why === "better than the seed"
  const floor = isKnown ? seedShare / 4 : seedShare
  return isAlive(learning.population, learning.seed) ? atLeast(capped, learning.seed, floor) : capped
}

/** The step of a ramp that is reached by the newest of some members. */
const stepOf = (
  ramp: Settings["sampler"]["newcomerShare"],
  { population: { members, step } }: Learning,
  newcomers: ReadonlySet<Instruction.InstructionId>
): number => {
  if (typeof ramp === "number") return ramp
  const ages = members.flatMap(({ instruction: { bornAt, id } }) => (newcomers.has(id) ? [step - bornAt] : []))
  return ramp[Math.min(ramp.length - 1, ...ages)] ?? ramp[0]
}

const atMost = (
  shares: ReadonlyArray<Share>,
  some: ReadonlySet<Instruction.InstructionId>,
  cap: number
): ReadonlyArray<Share> => {
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

const atLeast = (shares: ReadonlyArray<Share>, one: Instruction.InstructionId, floor: number): ReadonlyArray<Share> => {
  const held = sum(shares.filter(({ id }) => id === one))
  if (held >= floor) return shares
  return shares.map(({ id, probability }) => ({
    id,
    probability: id === one ? floor : (probability * (1 - floor)) / (1 - held)
  }))
}

const sum = (shares: ReadonlyArray<Share>): number => shares.reduce((total, { probability }) => total + probability, 0)
