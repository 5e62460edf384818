/** How much better one member is than another, within questions. */
import type { Instruction } from "@inspo/domain"
import * as Comparison from "./Comparison.ts"
import type { Contents } from "./Contents.ts"
import { ids, missingShares } from "./Members.ts"

/**
 * The expected reward of one member minus that of another, with its 95 % interval by the Gaussian model of
 * {@link Comparison}, which holds whatever missing rewards would have been: a description of the evidence so far, not a test that
 * may be repeated.
 */
export interface Difference {
  readonly mean: number
  readonly lower: number
  readonly upper: number
}

/** The difference of two members; null unless both are. */
export const between = (
  population: Contents,
  id: Instruction.InstructionId,
  rival: Instruction.InstructionId
): Difference | null => {
  const found = pair(population, id, rival)
  if (found === null) return null
  const { deviation, least, most } = found
  return {
    mean: (least + most) / 2,
    lower: Math.max(-1, least - quantile * deviation),
    upper: Math.min(1, most + quantile * deviation)
  }
}

/**
 * About how many more rewards, of all members, it takes until the interval of {@link between} excludes 0, if the difference stays what
 * it is; 0 if it does already. Null if the two do not differ so far, or if missing rewards could explain it.
 */
export const rewardsNeeded = (
  population: Contents,
  id: Instruction.InstructionId,
  rival: Instruction.InstructionId
): number | null => {
  const found = pair(population, id, rival)
  if (found === null) return null
  const known = Math.max(found.least, -found.most)
  if (known <= 0) return null
  const factor = ((quantile * found.deviation) / known) ** 2
  const rewards = population.members.reduce((sum, { lifetime }) => sum + lifetime.trajectories, 0)
  return Math.max(0, Math.ceil((factor - 1) * Math.max(1, rewards)))
}

/** The difference with every missing reward at its worst and at its best, and its standard deviation. */
const pair = (population: Contents, id: Instruction.InstructionId, rival: Instruction.InstructionId) => {
  const all = ids(population)
  const [a, b] = [all.indexOf(id), all.indexOf(rival)]
  if (a < 0 || b < 0) return null
  // A narrow prior, as for the shares, would show a large difference as a small one.
  const posterior = Comparison.posterior(population.comparison, wide)
  const mean = (posterior.means[a] ?? 0) - (posterior.means[b] ?? 0)
  const missing = missingShares(population.members)
  return {
    least: mean - (missing[b] ?? 0),
    most: mean + (missing[a] ?? 0),
    deviation: Comparison.deviation(posterior, a, b)
  }
}

const quantile = 1.96
const wide = 1
