/** The evidence of a cohort: folded once, by assignment, in the order of the cohorts. One size, however many cohorts there were. */
import { observe } from "@inspo/evolution"
import type { Group } from "@inspo/evolution/State"
import type { Averaging } from "@inspo/population/InstructionValue"
import type { Learning, MemberStats, Tally } from "./Learning.ts"
import type { RewardValue } from "./State.ts"

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
