/** Samples that some members lose more often than others, which can make the rewards that are left look better than all. */
import type { Instruction } from "@inspo/domain"
import { MeanInterval } from "@inspo/population"
import { total } from "../CohortEvidence.ts"
import { statsOf, type Tally } from "../Learning.ts"
import type { State } from "../State.ts"

/** The members with the largest and the smallest share of lost samples, each share in [0, 1]. */
export interface Difference {
  readonly more: Share
  readonly less: Share
}

interface Share {
  readonly id: Instruction.InstructionId
  readonly share: number
}

/** Of samples without a reward; null where they do not differ beyond chance. */
export const ofMissingRewards = (state: State): Difference | null =>
  differing(
    state,
    state.settings.selection.risk / state.learning.population.members.length,
    ({ reported, samples }) => ({ count: Math.max(0, samples - reported), all: samples })
  )

/** Of samples whose environment failed; null where they do not differ beyond chance. */
export const ofFailures = (state: State): Difference | null =>
  differing(state, state.settings.selection.risk, ({ failed = 0, samples }) => ({
    count: failed,
    all: samples + failed
  }))

/** The intervals of two shares, each of which holds at all times with probability 1 − `risk`, do not overlap. */
const differing = (
  { learning }: State,
  risk: number,
  of: (tally: Tally) => { readonly count: number; readonly all: number }
): Difference | null => {
  const { members } = learning.population
  const shares = members.flatMap(({ instruction: { id } }) => {
    const { all, count } = of(total(Object.values(statsOf(learning, id).tallies)))
    const bounds = { groups: all, low: count + 1 / 2, high: count + 1 / 2 }
    const interval = MeanInterval.ofMember(bounds, risk)
    return interval === null ? [] : [{ id, interval, share: count / all }]
  })
  const [first] = shares
  if (first === undefined) return null
  const more = shares.reduce((most, one) => (one.interval.lower > most.interval.lower ? one : most), first)
  const less = shares.reduce((least, one) => (one.interval.upper < least.interval.upper ? one : least), first)
  return more.interval.lower > less.interval.upper
    ? { more: { id: more.id, share: more.share }, less: { id: less.id, share: less.share } }
    : null
}
