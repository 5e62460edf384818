/**
 * The evidence of a cohort: folded once, by assignment, in the order of the cohorts. What was not reported counts against
 * every claim that it could have broken. One size, however many cohorts there were.
 */
import type { InstructionId } from "@inspo/domain/Instruction"
import { type Averaging, observe } from "@inspo/population/InstructionWeight"
import type { Population } from "@inspo/population/Population"
import * as Superiority from "@inspo/population/Superiority"
import { Array as Arr } from "effect"
import type { Bounds, Dossier, Learning, Tally, Unit } from "./Learning.ts"
import type { Silence } from "./Settings.ts"
import { dossier, type RewardValue } from "./State.ts"

/** Nothing is known of a member. */
export const unknown: Bounds = { units: 0, low: 1 / 2, high: 1 / 2, shared: {} }

/**
 * What was learned after the cohort `index`. Weights and windows come from what was reported. In the test of "j is worse than
 * i" an unreported sample counts 0 for i and 1 for j, or what silence means. With nothing unreported it is to the bit what
 * `InstructionWeight.observe` makes of the groups of a step. Units of instructions that left are shown nowhere.
 */
export const fold = (
  averaging: Averaging,
  silence: Silence,
  learning: Learning,
  index: number,
  units: ReadonlyArray<Unit>
): Learning => {
  const living = units.filter(({ instruction }) => Object.hasOwn(learning.dossiers, instruction))
  const outcomes = living.map((unit) => outcomeOf(silence, unit))
  const population = observe(
    averaging,
    learning.population,
    index,
    outcomes.flatMap(({ instructionId, rewards }) =>
      Arr.isReadonlyArrayNonEmpty(rewards) ? [{ instructionId, rewards }] : []
    )
  )
  const sides = sidesOf(learning, outcomes)
  const exponents = exponentsOf(learning.population)
  return {
    ...learning,
    folded: index,
    population: {
      ...population,
      members: population.members.map((member) => {
        const { id } = member.instruction
        const own = sides.get(id)
        const before = exponents.get(id) ?? new Map()
        const after = new Map(before)
        if (own !== undefined)
          for (const [rival, other] of sides)
            if (rival !== id) after.set(rival, Superiority.extend(before.get(rival), own.low, other.high))
        const against = Array.from(after, ([rival, exponents]) => ({ rival, exponents }))
        return { ...member, lifetime: { ...member.lifetime, against } }
      })
    },
    dossiers: Object.fromEntries(
      Object.entries(learning.dossiers).map(([id, dossier]) => [id, witness(id, dossier, sides, living)])
    )
  }
}

/** How many ordered pairs a generation makes of so many newcomers and those who were there. */
export const pairsOf = (present: number, entering: number): number =>
  (present + entering) * (present + entering - 1) - present * (present - 1)

/** The estimates after a reward that came late. */
export const tellLate = (dossier: Dossier, stratum: string, value: RewardValue): Dossier =>
  typeof value !== "number" ? dossier : tell(dossier, stratum, { samples: 0, reported: 1, sum: value })

interface Outcome {
  readonly instructionId: InstructionId
  readonly rewards: ReadonlyArray<number>
  readonly low: number
  readonly high: number
}

const outcomeOf = (silence: Silence, { instruction, rewards: reported, silent }: Unit): Outcome => {
  const rewards = silence === "worst" ? reported : [...reported, ...Array.from({ length: silent }, () => silence.value)]
  const missing = silence === "worst" ? silent : 0
  const sum = rewards.reduce((total, reward) => total + reward, 0)
  const samples = rewards.length + missing
  return { instructionId: instruction, rewards, low: sum / samples, high: (sum + missing) / samples }
}

/** What a cohort says of an instruction, at worst and at best. */
interface Sides {
  readonly low: Superiority.Step
  readonly high: Superiority.Step
}

const sidesOf = (learning: Learning, outcomes: ReadonlyArray<Outcome>): ReadonlyMap<InstructionId, Sides> => {
  const grouped = new Map<InstructionId, Array<Outcome>>()
  for (const outcome of outcomes) {
    const own = grouped.get(outcome.instructionId)
    if (own === undefined) grouped.set(outcome.instructionId, [outcome])
    else own.push(outcome)
  }
  return new Map(
    Array.from(grouped, ([id, own]) => {
      const { bounds } = dossier(learning, id)
      const step = (side: "low" | "high"): Superiority.Step => ({
        groups: own.length,
        sum: own.reduce((total, one) => total + one[side], 0),
        squares: own.reduce((total, one) => total + one[side] * one[side], 0),
        centre: bounds[side] / (1 + bounds.units)
      })
      return [id, { low: step("low"), high: step("high") }]
    })
  )
}

const exponentsOf = ({ members }: Population): ReadonlyMap<string, ReadonlyMap<InstructionId, ReadonlyArray<number>>> =>
  new Map(
    members.map(({ instruction, lifetime }) => [
      instruction.id,
      new Map(lifetime.against.map(({ exponents, rival }) => [rival, exponents]))
    ])
  )

const witness = (
  id: string,
  dossier: Dossier,
  sides: ReadonlyMap<string, Sides>,
  units: ReadonlyArray<Unit>
): Dossier => {
  const own = sides.get(id)
  if (own === undefined) return dossier
  const { bounds } = dossier
  const shared = { ...bounds.shared }
  for (const [rival, { low }] of sides)
    if (rival !== id)
      shared[rival] = (shared[rival] ?? 0) + (own.low.groups * low.groups) / (own.low.groups + low.groups)
  const witnessed = {
    ...dossier,
    bounds: {
      units: bounds.units + own.low.groups,
      low: bounds.low + own.low.sum,
      high: bounds.high + own.high.sum,
      shared
    }
  }
  return units
    .filter(({ instruction }) => instruction === id)
    .reduce<Dossier>(
      (told, { rewards, silent, stratum }) =>
        tell(told, stratum, {
          samples: rewards.length + silent,
          reported: rewards.length,
          sum: rewards.reduce((total, reward) => total + reward, 0)
        }),
      witnessed
    )
}

/** Strata that a member has estimates for; further ones are one. */
const strata = 64
const furtherStrata = "(further)"

const tell = (dossier: Dossier, stratum: string, more: Tally): Dossier => {
  const { shown } = dossier
  const name = Object.hasOwn(shown, stratum) || Object.keys(shown).length < strata ? stratum : furtherStrata
  const known = Object.hasOwn(shown, name) ? shown[name] : undefined
  const tally =
    known === undefined
      ? more
      : {
          samples: known.samples + more.samples,
          reported: known.reported + more.reported,
          sum: known.sum + more.sum
        }
  return { ...dossier, shown: { ...shown, [name]: tally } }
}
