/** A snapshot of a population: estimates and intervals, open cohorts, and what the next decision waits for. */
import { Instruction } from "@inspo/domain"
import { isAlive, isIn } from "@inspo/evolution"
import { Comparison, type Difference, MeanInterval, Population } from "@inspo/population"
import { HashMap } from "effect"
import { total } from "./CohortEvidence.ts"
import { settlesAt } from "./Horizon.ts"
import { missingRewardsOf } from "./Strategies.ts"
import { type Broken, type Incumbent, type MemberStats, proposalId, statsOf, type Tally, toSeed } from "./Learning.ts"
import * as Losses from "./internal/Losses.ts"
import { brokenIn } from "./internal/Pausing.ts"
import type { SampleRatio } from "./SampleRatio.ts"
import { type Cohort, incumbentOf, knownSamples, type State } from "./State.ts"
import type { Strategies } from "./Strategies.ts"

/**
 * What is shown of a member. `mean` is that of the rewards reported in closed cohorts, late ones included, or so far where none
 * is closed, null before the first; it is in `interval`. `missing` is the share of samples of closed cohorts that were not
 * reported; `failed` counts samples whose environment failed, which are not in `samples`. `interval` holds its mean by the closed cohorts, null before the
 * first, at the risk δ; `difference` is what it is better than the seed by, with its 95 % interval, and `chance` its
 * probability of being the best.
 */
export interface MemberSnapshot {
  readonly id: Instruction.InstructionId
  readonly value: number
  readonly chance: number
  readonly mean: number | null
  readonly samples: number
  readonly reported: number
  readonly missing: number
  readonly failed: number
  readonly interval: MeanInterval.Interval | null
  readonly difference: Difference.Difference | null
  readonly isNewcomer: boolean
  readonly isPinned: boolean
  /** The guardrail that it breaks: it is paused then, unless it is the seed. */
  readonly broken: Broken | null
  readonly strata: MemberStats["tallies"]
}

/** A candidate that is not a member: it waits for a review at its `place` in the proposal, or was `approved` or `rejected`. */
export interface CandidateSnapshot {
  readonly id: Instruction.InstructionId
  readonly place: number
  readonly content: Instruction.Content
  readonly parent: Instruction.InstructionId
  readonly stage: "waiting" | "approved" | "rejected"
}

/** A cohort that is not closed. */
export interface CohortSnapshot {
  readonly name: string
  readonly phase: "train" | "validation"
  readonly status: "open" | "sealed" | "complete"
  readonly leases: number
  readonly reported: number
  /** Keys of the first leases that a sealed cohort waits for. */
  readonly blocking: ReadonlyArray<string>
  readonly settlesAt: number | null
}

/**
 * `missingRewardsForbid` are pairs whose rewards differ as reported, but which no number of further cohorts could distinguish while
 * so many are missing: a gap Δ needs less than Δ / (1 + Δ). `missingRewardsDiffer`: rewards are missing more often for one member than
 * for another, beyond chance. `waitsFor` is what the next decision needs.
 */
export interface Snapshot {
  readonly members: ReadonlyArray<MemberSnapshot>
  readonly candidates: ReadonlyArray<CandidateSnapshot>
  readonly cohorts: ReadonlyArray<CohortSnapshot>
  readonly incumbent: Incumbent
  readonly missingRewardsForbid: ReadonlyArray<{
    readonly better: Instruction.InstructionId
    readonly worse: Instruction.InstructionId
  }>
  readonly missingRewardsDiffer: Losses.Difference | null
  /** The same of samples whose environment failed, which are no evidence. Nothing is decided while these differ. */
  readonly failuresDiffer: Losses.Difference | null
  /**
   * What is ahead of the seed but not known to be better, and about how many more rewards it takes to know it: null where no number
   * is enough while so many are missing. Null if nothing is ahead, or it is known, or the seed left.
   */
  readonly ahead: { readonly id: Instruction.InstructionId; readonly rewardsNeeded: number | null } | null
  /** Closed cohorts whose units were compared with those of the cohorts before. */
  readonly acrossCohorts: number
  /** Whether instructions reach the evidence as often as their probabilities say. */
  readonly sampleRatio: SampleRatio
  /** Whether questions were asked again in later cohorts. */
  readonly repeatsQuestions: boolean
  readonly waitsFor:
    | "a cohort"
    | "a proposal"
    | "approval"
    | "nothing: it is frozen"
    | "nothing: all leases get the seed"
}

/** The snapshot of a state. Pure. */
export const snapshot = (strategies: Strategies, state: State): Snapshot => {
  const { learning, settings } = state
  const { members } = learning.population
  const forbidden = missingRewardsForbid(state)
  const failuresDiffer = Losses.ofFailures(state)
  const values = new Map(strategies.valuation.values(learning.population).map((one) => [one.id, one]))
  const reportedSoFar = openTallies(state)
  return {
    members: members.map((member): MemberSnapshot => {
      const { id } = member.instruction
      const { isNewcomer, isPinned, paused, tallies } = statsOf(learning, id)
      const { bounds } = member.lifetime
      const closed = total(Object.values(tallies))
      const open = reportedSoFar.get(id) ?? noTally
      return {
        id,
        value: values.get(id)?.value ?? 0,
        chance: values.get(id)?.chance ?? 0,
        mean: meanOf(missingRewardsOf(settings), bounds, bounds.groups === 0 ? total([closed, open]) : closed),
        samples: closed.samples,
        reported: closed.reported + open.reported,
        interval: MeanInterval.ofMember(bounds, settings.selection.risk),
        missing: closed.samples === 0 ? 0 : 1 - closed.reported / closed.samples,
        failed: closed.failed ?? 0,
        difference: toSeed(learning, id),
        isNewcomer,
        isPinned,
        broken: paused ?? (id === learning.seed ? brokenIn(state, id) : null),
        strata: tallies
      }
    }),
    candidates: candidates(state),
    cohorts: state.cohorts.map((cohort) => ({
      name: cohort.name,
      phase: cohort.phase,
      status: cohort.status,
      leases: HashMap.size(cohort.leases),
      reported: cohort.reported,
      blocking: cohort.status === "sealed" ? blocking(cohort) : [],
      settlesAt: settlesAt(state, cohort.sealedAt)
    })),
    incumbent: incumbentOf(state),
    missingRewardsForbid: forbidden,
    missingRewardsDiffer: Losses.ofMissingRewards(state),
    failuresDiffer,
    ahead: ahead(state, forbidden, failuresDiffer),
    acrossCohorts: state.closed.across,
    sampleRatio: state.sampleRatio,
    repeatsQuestions: state.questions.areRepeated,
    waitsFor: waitsFor(state)
  }
}

const ahead = (
  { learning: { incumbent, population, seed }, settings }: State,
  forbidden: Snapshot["missingRewardsForbid"],
  failuresDiffer: Snapshot["failuresDiffer"]
): Snapshot["ahead"] => {
  const { comparison, members } = population
  const leader = members[comparison.incumbent]?.instruction.id
  if (leader === undefined || leader === seed || incumbent.why === "better than the seed") return null
  const isForbidden = forbidden.some(({ better, worse }) => better === leader && worse === seed)
  if (!isAlive(population, seed)) return null
  return {
    id: leader,
    rewardsNeeded:
      isForbidden || failuresDiffer !== null
        ? null
        : Comparison.rewardsNeeded(comparison, Population.ids(population).indexOf(seed), settings.selection.risk)
  }
}

/** Pairs whose rewards differ as reported, but which no number of further cohorts could distinguish. */
export const missingRewardsForbid = (state: State): Snapshot["missingRewardsForbid"] => {
  const { members } = state.learning.population
  return members.flatMap((better) =>
    members
      .filter((worse) => isForbidden(state, better, worse))
      .map((worse) => ({ better: better.instruction.id, worse: worse.instruction.id }))
  )
}

/** The mean of the reported rewards, clipped to the interval that missing rewards allow. */
const meanOf = (
  missingRewards: Population.MissingRewards,
  { groups, high, low }: Population.Bounds,
  { reported, sum }: Tally
): number | null => {
  if (groups === 0) return reported === 0 ? null : sum / reported
  const [least, most] = [(low - 1 / 2) / groups, (high - 1 / 2) / groups]
  if (reported === 0) return missingRewards === "worst" ? null : least
  return Math.min(most, Math.max(least, sum / reported))
}

/** What was reported in cohorts that are not closed, as far as it is evidence when they are. */
const openTallies = ({ cohorts }: State): ReadonlyMap<Instruction.InstructionId, Tally> => {
  const tallies = new Map<Instruction.InstructionId, Tally>()
  for (const { leases, phase } of cohorts)
    if (phase === "train")
      for (const { instruction, isCarried, samples } of HashMap.values(leases)) {
        if (isCarried === true) continue
        const rewards = samples.filter((sample) => typeof sample === "number")
        if (rewards.length === 0) continue
        const sum = rewards.reduce((all, one) => all + one, 0)
        const more = { samples: 0, reported: rewards.length, sum }
        tallies.set(instruction, total([tallies.get(instruction) ?? noTally, more]))
      }
  return tallies
}

const noTally: Tally = { samples: 0, reported: 0, sum: 0 }

/** The keys of the first leases that a sealed cohort waits for. */
const blocking = ({ leases }: Cohort): ReadonlyArray<string> => {
  const keys: Array<string> = []
  for (const lease of HashMap.values(leases)) {
    if (keys.length === shownBlocking) break
    if (knownSamples(lease) < lease.n) keys.push(lease.key)
  }
  return keys
}

const shownBlocking = 3

const candidates = ({ learning: { evolution, reviews } }: State): ReadonlyArray<CandidateSnapshot> => {
  if (evolution === null) return []
  if (!isIn(evolution, "Proposed")) return []
  const { candidates, parent } = evolution.stage
  return candidates.map((candidate, place) => {
    const review = reviews[place] ?? null
    return {
      id: proposalId(evolution, place),
      place,
      content: Instruction.contentOf(candidate),
      parent,
      stage: review === null ? "waiting" : review ? "approved" : "rejected"
    }
  })
}

const isForbidden = ({ learning }: State, better: Population.Member, worse: Population.Member): boolean => {
  const reported = ({ instruction }: Population.Member) => {
    const { reported, sum } = total(Object.values(statsOf(learning, instruction.id).tallies))
    return reported === 0 ? Number.NaN : sum / reported
  }
  const side = ({ lifetime: { bounds } }: Population.Member, name: "low" | "high") =>
    (bounds[name] - 1 / 2) / bounds.groups
  const isMissing = [better, worse].some((one) => side(one, "low") < side(one, "high"))
  return isMissing && reported(better) > reported(worse) && side(better, "low") <= side(worse, "high")
}

const waitsFor = ({ isFrozen, learning: { evolution }, usesSeed }: State): Snapshot["waitsFor"] => {
  if (usesSeed) return "nothing: all leases get the seed"
  if (isFrozen) return "nothing: it is frozen"
  if (isIn(evolution, "Proposing")) return "a proposal"
  return isIn(evolution, "Proposed") ? "approval" : "a cohort"
}
