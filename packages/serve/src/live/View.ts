/** A population as the API shows it. */
import {
  type CandidateSnapshot,
  type CohortSnapshot,
  type History,
  Horizon,
  Learning,
  type MemberSnapshot,
  SampleRatio,
  Settings,
  Shares,
  missingRewardsForbid,
  type Snapshot,
  snapshot,
  State,
  type Strategies
} from "@inspo/cohorts"
import { Instruction as DomainInstruction } from "@inspo/domain"
import { Constraint, isAlive } from "@inspo/evolution"
import { HashMap } from "effect"
import type { Instruction } from "../wire/Instruction.ts"
import type { Difference, Estimate, Member } from "../wire/Member.ts"
import type { Incumbent, Population, PopulationSummary } from "../wire/Population.ts"
import type { CohortState } from "../wire/Lease.ts"
import type { Degraded, Skipped } from "./EvolutionStatus.ts"
import { toWire } from "./internal/Configuring.ts"

/** The name and the evolution of a population. `capUsd` is what its server allows it to spend, whatever its own setting. */
export interface Status {
  readonly name: string
  readonly spentUsd: number | null
  readonly capUsd: number | null
  readonly degraded: ReadonlyArray<Degraded>
  readonly skipped: Skipped | null
}

/** What evolution of a population may spend, in US dollars: the lower of both limits, null without a limit. */
export const budgetUsd = (
  { budget: { usd } }: Pick<State.State["settings"], "budget">,
  capUsd: number | null
): number | null => (capUsd === null || usd === null ? (capUsd ?? usd) : Math.min(capUsd, usd))

/** A population with its members, cohorts and status. */
export const population = (
  decides: Strategies.Decides,
  { capUsd, degraded, name, skipped, spentUsd }: Status,
  state: State.State
): Population => {
  const strategies = decides(state.settings)
  const { branch, closed, learning, settings } = state
  const shown = snapshot(strategies, state)
  const horizon = Horizon.horizonOf(state)
  const training = shown.cohorts.filter(({ phase }) => phase === "train")
  const unreported = (some: ReadonlyArray<CohortSnapshot>) =>
    some.reduce((sum, { leases, reported }) => sum + leases - reported, 0)
  return {
    ...head({ name, isDegraded: degraded.length > 0 }, state),
    settings: toWire(settings),
    members: listed(strategies, state, shown),
    generation: learning.population.comparison.generation - 1,
    branch,
    cohorts: shown.cohorts.map(cohort),
    leases: {
      given: closed.units + training.reduce((sum, { leases }) => sum + leases, 0),
      open: unreported(training),
      overdue: unreported(training.filter(({ status }) => status !== "open")),
      lost: closed.lost
    },
    horizonSeconds: horizon === null ? null : horizon / 1000,
    toSeed: toSeed(state),
    ahead: shown.ahead,
    acrossCohorts: shown.acrossCohorts,
    repeatedQuestions: shown.repeatsQuestions,
    sampleRatioEvidence: shown.sampleRatio.evidence,
    spentUsd,
    budgetUsd: budgetUsd(settings, capUsd),
    next: [
      ...needs(shown, learning.seed),
      ...(settings.missingRewards === "random" ? [atRandom] : []),
      ...(skipped === null ? [] : [`the last evolution was skipped at ${isoTime(skipped.at)}: ${skipped.reason}`])
    ].join("; "),
    degraded: degraded.map(({ since, ...fault }) => ({ ...fault, since: isoTime(since) }))
  }
}

/** The snapshot of a population under the strategies of its settings. */
export const snapshotOf = (decides: Strategies.Decides, state: State.State): Snapshot =>
  snapshot(decides(state.settings), state)

/** Members, and candidates that wait for a review. */
export const allOf = (decides: Strategies.Decides, state: State.State): ReadonlyArray<Member> => {
  const strategies = decides(state.settings)
  return listed(strategies, state, snapshot(strategies, state))
}

/** A living member. */
export const memberOf = (decides: Strategies.Decides, state: State.State, id: string): Member | undefined =>
  allOf(decides, state).find(
    (one) => one.id === id && isAlive(state.learning.population, DomainInstruction.InstructionId.make(id))
  )

const listed = (strategies: Strategies.Strategies, state: State.State, shown: Snapshot): ReadonlyArray<Member> => [
  ...members(strategies, state, shown),
  ...shown.candidates.map((one) => candidate(state, one))
]

/** A population in a list. */
export const summary = (of: Headed, state: State.State): PopulationSummary => ({
  ...head(of, state),
  members: state.learning.population.members.length
})

export interface Headed {
  readonly name: string
  readonly isDegraded: boolean
}

const head = ({ isDegraded, name }: Headed, state: State.State): Omit<PopulationSummary, "members"> => ({
  name,
  profile: state.settings.profile,
  state: stateOf(isDegraded, state),
  incumbent: State.incumbentOf(state).id
})

const stateOf = (isDegraded: boolean, state: State.State): PopulationSummary["state"] => {
  if (state.usesSeed) return "seed"
  if (state.isFrozen) return "frozen"
  if (isDegraded) return "degraded"
  return missingRewardsForbid(state).length > 0 ? "cannot-decide" : "learning"
}

/** The instruction to use outside learning. Reads no leases: agents in use ask for it often. */
export const incumbent = (state: State.State): Incumbent => {
  const { content, id, why } = State.incumbentOf(state)
  return {
    instruction: instruction(id, content),
    reason: why === "pinned" ? why : seeds.has(why) ? "seed" : "evidence",
    why: sentence(state) + (state.settings.missingRewards === "random" ? ` It rests on a setting: ${atRandom}.` : "")
  }
}

/** Reasons for the seed. */
const seeds: ReadonlySet<Learning.Incumbent["why"]> = new Set(["nothing separates", "the seed left", "switched"])

/** An instruction in a lease. */
export const instruction = (id: DomainInstruction.InstructionId, content: DomainInstruction.Content): Instruction =>
  typeof content === "string" ? { id, text: content } : { id, texts: content }

/** A cohort that is not closed. One that accepts no more rewards and waits for those before it is still `sealed`. */
export const cohort = ({
  leases,
  name,
  reported,
  settlesAt,
  status
}: Omit<CohortSnapshot, "blocking" | "phase">): CohortState => ({
  cohort: name,
  state: status === "complete" ? "sealed" : status,
  leases,
  reported,
  closesAt: time(settlesAt)
})

/** The cohort of this name, undefined if it is closed or was never opened. Reads none of its leases: it answers each report. */
export const cohortNamed = (state: State.State, name: string): CohortState | undefined => {
  const found = State.cohort(state, name)
  return found === undefined
    ? undefined
    : cohort({ ...found, leases: HashMap.size(found.leases), settlesAt: Horizon.settlesAt(state, found.sealedAt) })
}

/** A time as ISO 8601 in UTC; null if it is unknown, or no date is so late. */
export const time = (at: number | null): string | null =>
  at === null || !(Math.abs(at) <= 8.64e15) ? null : isoTime(at)

/** A known time as ISO 8601 in UTC. */
export const isoTime = (at: number): string => new Date(at).toISOString()

const members = (
  strategies: Strategies.Strategies,
  state: State.State,
  { members }: Snapshot
): ReadonlyArray<Member> => {
  const { learning, settings } = state
  const newest = state.cohorts.findLast(({ phase }) => phase === "train")
  const shares =
    newest?.shares ?? Shares.shares(settings.sampler, learning, strategies.valuation.values(learning.population))
  const shareOf = new Map(shares.map(({ id, probability }) => [id, probability]))
  const known = new Map(learning.population.members.map(({ instruction }) => [instruction.id, instruction]))
  return members.map((one): Member => {
    const { entry } = Learning.statsOf(learning, one.id)
    const { generation = 0, origin = "variant", parent = null } = known.get(one.id) ?? {}
    return {
      id: one.id,
      wording: Learning.contentOfMember(learning, one.id),
      origin: entry === "hand" ? "added" : origin,
      parent,
      generation,
      standing: "member",
      pinned: one.isPinned,
      probability: shareOf.get(one.id) ?? 0,
      chance: one.chance,
      toSeed: difference(settings, one.difference),
      estimate: estimate(state, one),
      strata: Object.fromEntries(
        Object.entries(one.strata).map(([stratum, { failed = 0, reported, samples, sum }]) => [
          stratum,
          {
            mean: reported === 0 ? null : Settings.onScale(settings, sum / reported),
            low: null,
            high: null,
            samples: reported,
            missing: samples === 0 ? 0 : 1 - reported / samples,
            failed
          }
        ])
      ),
      ...(one.broken === null || one.id === learning.seed ? {} : { paused: inWords(one.broken) })
    }
  })
}

/** What a member breaks. */
const inWords = ({ guardrail, limit, lower, samples, value }: Learning.Broken): string => {
  const isShare = (Constraint.read(guardrail)?.quantile ?? null) !== null
  const figure = (number: number) => (isShare ? `${(100 * number).toFixed(0)} %` : number.toPrecision(3))
  return (
    `${guardrail} is broken by ${samples} samples: ${isShare ? "the share above it" : "their mean"} is ${figure(value)}, ` +
    `certainly at least ${figure(lower)}, where ${figure(limit)} is allowed`
  )
}

/** A candidate that is not a member, with the decision of an admin on it. */
export const candidate = ({ learning }: State.State, { content, id, parent, stage }: CandidateSnapshot): Member => {
  const generation = learning.population.members.find(({ instruction }) => instruction.id === parent)?.instruction
    .generation
  return nonMember({ id, content, origin: "proposed", parent, generation: (generation ?? 0) + 1 }, stage)
}

/** An instruction that is not a member yet, or not any more. */
export const nonMember = (
  {
    content,
    generation,
    id,
    origin,
    parent
  }: Pick<History.Known, "content" | "generation" | "id" | "origin" | "parent">,
  standing: Member["standing"]
): Member => ({
  id,
  wording: content,
  origin,
  parent,
  generation,
  standing,
  pinned: false,
  probability: 0,
  chance: 0,
  toSeed: null,
  estimate: { mean: null, low: null, high: null, samples: 0, missing: 0, failed: 0 },
  strata: {}
})

const estimate = (
  { settings }: State.State,
  { failed, interval, mean, reported, missing }: MemberSnapshot
): Estimate => ({
  mean: mean === null ? null : Settings.onScale(settings, mean),
  low: interval === null ? null : Settings.onScale(settings, interval.lower),
  high: interval === null ? null : Settings.onScale(settings, interval.upper),
  samples: reported,
  missing,
  failed
})

/** How much better the incumbent is than the seed; null if it is the seed, or if one of them has left. */
const toSeed = (state: State.State): Difference | null =>
  difference(state.settings, Learning.toSeed(state.learning, State.incumbentOf(state).id))

const difference = (
  { rewardRange: [lowest, highest] }: State.State["settings"],
  found: MemberSnapshot["difference"]
): Difference | null => {
  const scale = highest - lowest
  return found === null ? null : { mean: found.mean * scale, low: found.lower * scale, high: found.upper * scale }
}

/** What the next decision needs, and what it rests on, in sentences without a period. */
const needs = (shown: Snapshot, seed: string): ReadonlyArray<string> => {
  const {
    acrossCohorts,
    ahead,
    candidates,
    cohorts,
    failuresDiffer,
    missingRewardsDiffer,
    missingRewardsForbid,
    repeatsQuestions,
    sampleRatio
  } = shown
  const percent = (share: number) => `${(100 * share).toFixed(0)} %`
  return [
    waiting(shown.waitsFor, candidates, cohorts),
    ahead !== null &&
      ahead.rewardsNeeded !== null &&
      `about ${rounded(ahead.rewardsNeeded)} more rewards until ${ahead.id} is known to be better than the seed`,
    ...missingRewardsForbid.map(
      ({ better, worse }) =>
        `cannot decide between ${better} and ${worse}, because too many of their rewards are missing for any further cohort to decide it`
    ),
    missingRewardsDiffer !== null &&
      `warning: rewards are missing for ${percent(missingRewardsDiffer.more.share)} of the samples of ${missingRewardsDiffer.more.id} and ` +
        `for ${percent(missingRewardsDiffer.less.share)} of ${missingRewardsDiffer.less.id}, so their comparison depends on how a missing reward counts`,
    failuresDiffer !== null &&
      `warning: the environment failed for ${percent(failuresDiffer.more.share)} of the samples of ${failuresDiffer.more.id} and ` +
        `for ${percent(failuresDiffer.less.share)} of ${failuresDiffer.less.id}. Nothing is decided while these differ, since the samples that are left may be the easier ones: ` +
        `find out whether ${failuresDiffer.more.id} causes the failures`,
    ...shown.members.flatMap(({ broken, id }) =>
      broken === null ? [] : [`${id === seed ? "warning, the seed:" : `${id} is paused:`} ${inWords(broken)}`]
    ),
    sampleRatio.evidence >= SampleRatio.alarm &&
      "warning: instructions do not reach the evidence as often as their probabilities say, so their comparison is not fair: " +
        "find out whether a client abandons, repeats or replaces the leases of some of them",
    acrossCohorts !== 0 &&
      `${acrossCohorts} cohorts with one instruction each were compared with their neighbours, which assumes that the policy hardly changes in between`,
    repeatsQuestions && "questions are asked again in later cohorts, so the risk is not guaranteed"
  ].filter((sentence) => sentence !== false)
}

/** The assumption of an operator that results rest on. */
const atRandom = "missing rewards are taken as missing at random and left out"

/** With two significant digits. */
const rounded = (rewards: number): string => Number(rewards.toPrecision(2)).toFixed(0)

const waiting = (
  what: Snapshot["waitsFor"],
  candidates: Snapshot["candidates"],
  cohorts: Snapshot["cohorts"]
): string => {
  if (what === "approval")
    return `approval of ${candidates
      .filter(({ stage }) => stage === "waiting")
      .map(({ id }) => id)
      .join(", ")}`
  if (what !== "a cohort") return what
  const oldest = cohorts.find(({ phase }) => phase === "train")
  if (oldest === undefined) return "leases"
  const { blocking, leases, name, reported, settlesAt } = oldest
  const until = time(settlesAt)
  const missing =
    blocking.length === 0 ? "" : ` (not ${blocking.join(", ")}${leases - reported > blocking.length ? ", …" : ""})`
  return `the cohort ${name}: ${reported} of ${leases} leases are reported${missing}${until === null ? "" : `, and it closes at ${until}`}`
}

const sentence = (state: State.State): string => {
  const { id, why } = State.incumbentOf(state)
  const difference = toSeed(state)
  switch (why) {
    case "nothing separates":
      return "No instruction is known to be better than the seed."
    case "the seed left":
      return "The seed was retired, and no instruction was known to be better; it stays in use."
    case "the seed was pruned as worse":
      return `The seed was pruned as worse, and ${id} is the best of the others.`
    case "pinned":
      return `An admin pinned ${id}.`
    case "switched":
      return "An admin switched all leases to the seed."
    case "better than the seed":
      return `${id} is better than the seed${bounds(difference)}.`
  }
}

const bounds = (difference: Difference | null): string =>
  difference === null ? "" : ` by ${difference.low.toPrecision(3)} to ${difference.high.toPrecision(3)}`
