/** The evidence of a cohort: folded once, by assignment, in the order of the cohorts. One size, however many cohorts there were. */
import { observe } from "@inspo/evolution"
import type { Group } from "@inspo/evolution/State"
import type { Averaging } from "@inspo/population/InstructionValue"
import type { Learning, MemberStats, Tally } from "./Learning.ts"
import type { RewardValue, State } from "./State.ts"

/**
 * What was learned after the cohort `index`. Values and windows come from what was reported; missing rewards count as
 * `averaging` says. Groups of removed instructions are shown nowhere.
 */
export const fold = (
  averaging: Averaging,
  learning: Learning,
  index: number,
  groups: ReadonlyArray<Group>
): Learning => ({
  ...observe(averaging, learning, index, groups),
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

const accumulateGroup = (stats: MemberStats, { missing, rewards, stratum }: Group): MemberStats =>
  accumulate(stats, stratum, {
    samples: rewards.length + missing,
    reported: rewards.length,
    sum: rewards.reduce((total, reward) => total + reward, 0)
  })

/** Strata that a member has estimates for; further ones are one. */
const strata = 64
const furtherStrata = "(further)"

const accumulate = (stats: MemberStats, stratum: string, more: Tally): MemberStats => {
  const { tallies } = stats
  const name = Object.hasOwn(tallies, stratum) || Object.keys(tallies).length < strata ? stratum : furtherStrata
  const known = Object.hasOwn(tallies, name) ? tallies[name] : undefined
  const tally =
    known === undefined
      ? more
      : {
          samples: known.samples + more.samples,
          reported: known.reported + more.reported,
          sum: known.sum + more.sum
        }
  return { ...stats, tallies: { ...tallies, [name]: tally } }
}
