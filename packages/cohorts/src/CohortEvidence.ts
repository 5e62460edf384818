/** The evidence of a cohort: folded once, by assignment, in the order of the cohorts. One size, however many cohorts there were. */
import { type Group, observe } from "@inspo/evolution"
import type { Population } from "@inspo/population"
import type { Learning, MemberStats, Tally } from "./Learning.ts"
import type { RewardValue, State } from "./State.ts"

/**
 * What was learned after the cohort `index`. Values and windows come from what was reported; missing rewards count as
 * `valuation` says. `evidence` is what of the groups decides, by default all. Groups of removed instructions are shown nowhere.
 */
export const fold = (
  valuation: Pick<Population.Interface, "observe">,
  learning: Learning,
  index: number,
  groups: ReadonlyArray<Group>,
  evidence = groups
): Learning => ({
  ...observe(valuation, learning, index, evidence),
  stats: Object.fromEntries(
    Object.entries(learning.stats).map(([id, stats]) => [
      id,
      groups.filter(({ instruction }) => instruction === id).reduce<MemberStats>(accumulateGroup, stats)
    ])
  )
})

/** Whether units of this cohort were compared with units of earlier ones that had waited for them. */
export const isAcross = (before: Learning, after: Learning): boolean =>
  before.population.comparison.waiting.length > 0 && after.population.comparison.waiting.length === 0

/** The questions after those of one more cohort. */
export const asked = ({ areRepeated, first }: State["questions"], groups: ReadonlyArray<Group>): State["questions"] => {
  if (areRepeated) return { areRepeated, first }
  const named = new Set(groups.flatMap(({ question }) => question ?? []))
  return {
    areRepeated: first.some((question) => named.has(question)),
    first: first.length < knownQuestions ? [...first, ...named].slice(0, knownQuestions) : first
  }
}

/** Questions that are looked for in later cohorts. */
const knownQuestions = 32

/** The estimates after a reward that came late. */
export const accumulateLate = (stats: MemberStats, stratum: string, value: RewardValue): MemberStats =>
  typeof value !== "number" ? stats : accumulate(stats, stratum, { samples: 0, reported: 1, sum: value })

const accumulateGroup = (stats: MemberStats, { failed = 0, missing, rewards, stratum }: Group): MemberStats =>
  accumulate(stats, stratum, {
    samples: rewards.length + missing,
    reported: rewards.length,
    sum: rewards.reduce((total, reward) => total + reward, 0),
    ...(failed === 0 ? {} : { failed })
  })

/** The sum of tallies. */
export const total = (tallies: ReadonlyArray<Tally>): Tally => tallies.reduce(both, { samples: 0, reported: 0, sum: 0 })

const both = (one: Tally, other: Tally): Tally => {
  const failed = (one.failed ?? 0) + (other.failed ?? 0)
  return {
    samples: one.samples + other.samples,
    reported: one.reported + other.reported,
    sum: one.sum + other.sum,
    ...(failed === 0 ? {} : { failed })
  }
}

/** Strata that a member has estimates for; further ones are one. */
const strata = 64
const furtherStrata = "(further)"

const accumulate = (stats: MemberStats, stratum: string, more: Tally): MemberStats => {
  const { tallies } = stats
  const name = Object.hasOwn(tallies, stratum) || Object.keys(tallies).length < strata ? stratum : furtherStrata
  const known = Object.hasOwn(tallies, name) ? tallies[name] : undefined
  const tally = known === undefined ? more : both(known, more)
  return { ...stats, tallies: { ...tallies, [name]: tally } }
}
