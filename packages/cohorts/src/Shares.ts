/** How likely each member is leased in a cohort: softmax (Eq. 4), with a floor for the seed and a cap for newcomers. */
import type { InstructionId } from "@inspo/domain/Instruction"
import type { Weight } from "@inspo/population/Population"
import { probabilities } from "@inspo/sampler/Sampler"
import type { Learning } from "./Learning.ts"
import type { Settings } from "./Settings.ts"
import { silenceForbids, type Standing } from "./Standing.ts"
import { dossier, isAlive, type Share, type State } from "./State.ts"
import type { Strategies } from "./Strategies.ts"

/**
 * The shares of a cohort, which sum to 1. All newcomers together have at most `newcomerCap` while anybody else is alive, and
 * the seed has at least `seedFloor` while it is.
 */
export const shares = (
  { newcomerCap, seedFloor, temperature }: Pick<Settings, "newcomerCap" | "seedFloor" | "temperature">,
  learning: Learning,
  weights: ReadonlyArray<Weight>
): ReadonlyArray<Share> => {
  const drawn = probabilities(
    weights.map(({ weight }) => weight),
    temperature
  )
  const equal = weights.map(({ id }, index) => ({ id, probability: drawn[index] ?? 0 }))
  const newcomers = new Set(weights.map(({ id }) => id).filter((id) => dossier(learning, id).isNewcomer))
  const capped = newcomers.size < weights.length ? atMost(equal, newcomers, newcomerCap) : equal
  return isAlive(learning.population, learning.seed) ? atLeast(capped, learning.seed, seedFloor) : capped
}

/**
 * The weights that shares follow. A member that silence keeps from being told from others, whatever comes, has the mean weight
 * of itself and those: its own rewards may be better only because others were not reported.
 */
export const levelled = (weights: ReadonlyArray<Weight>, pairs: Standing["silenceForbids"]): ReadonlyArray<Weight> => {
  const weightOf = new Map(weights.map(({ id, weight }) => [id, weight]))
  return weights.map(({ id, weight }) => {
    const others = pairs.flatMap(({ better, worse }) => (better === id ? [worse] : worse === id ? [better] : []))
    const all = [weight, ...others.flatMap((other) => weightOf.get(other) ?? [])]
    return { id, weight: all.reduce((total, one) => total + one, 0) / all.length }
  })
}

/** The weights of the members of a state, levelled where silence forbids a decision. */
export const weightsOf = (strategies: Pick<Strategies, "weights">, state: State): ReadonlyArray<Weight> =>
  levelled(strategies.weights(state.learning.population), silenceForbids(state))

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
