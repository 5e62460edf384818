/** Applies an event to the state: it copies what was decided and decides nothing. */
import { Instruction } from "@inspo/domain"
import type { EvolutionEvent } from "@inspo/evolution"
import * as Evolution from "@inspo/evolution"
import { HashMap, Option, Record, Struct } from "effect"
import type { EventOf, PopulationEvent } from "./Event.ts"
import * as CohortEvidence from "./CohortEvidence.ts"
import { waited } from "./Horizon.ts"
import { schedule } from "./internal/Decisions.ts"
import * as Guardrails from "./Guardrails.ts"
import {
  contentOfMember,
  type Entry,
  type Incumbent,
  type Learning,
  type MemberStats,
  type Tallies
} from "./Learning.ts"
import * as SampleRatio from "./SampleRatio.ts"
import { type Cohort, cohort, knownSamples, limits, type State } from "./State.ts"
import type { Settings } from "./Settings.ts"
import { evidenceOf, ofSettings, type Strategies } from "./Strategies.ts"

const { UnexpectedEvent } = Evolution

/** What gives the statistics of settings. */
type Observes = (settings: Settings) => { readonly valuation: Pick<Strategies["valuation"], "observe"> }

/** The state of a population that was created and nothing else. */
export const begin = ({ members, settings }: EventOf<"Created">): State => {
  const [seed] = members
  const stats = newStats(members, "creation")
  return {
    settings,
    limits,
    isFrozen: false,
    usesSeed: false,
    branch: 0,
    branches: [],
    rewinds: [],
    opened: { train: 0, validation: 0 },
    closed: { units: 0, lost: 0, across: 0 },
    questions: { first: [], areRepeated: false },
    sampleRatio: SampleRatio.none,
    waits: [],
    cohorts: [],
    learning: {
      ...Evolution.begin(members),
      seed: seed.id,
      stats,
      reviews: [],
      incumbent: { id: seed.id, content: Instruction.contentOf(seed), why: "nothing separates" },
      proven: []
    }
  }
}

/** The state after an event. Of the strategies it uses the statistics alone. Throws {@link UnexpectedEvent} on one that cannot follow. */
export const apply = (state: State, event: PopulationEvent, decides: Observes = ofSettings): State => {
  switch (event._tag) {
    case "Created":
      throw new UnexpectedEvent({ event: event._tag, expected: "it first, once" })
    case "Configured":
      return configured(state, event)
    case "Frozen":
      return { ...state, isFrozen: event.isFrozen, usesSeed: event.usesSeed === true }
    case "CohortOpened":
      return opened(state, event)
    case "Leased":
      return withCohort(state, event, (cohort) => leased(cohort, event))
    case "Rewarded":
      return withCohort(state, event, (cohort) => rewarded(cohort, event, state.settings))
    case "CloseRequested":
      return withCohort(state, event, (cohort) => ({ ...cohort, closing: event.groups }))
    case "Sealed":
      return withCohort(state, event, (cohort) => ({ ...cohort, status: "sealed", sealedAt: event.at }))
    case "Settled":
      return {
        ...withCohort(state, event, (cohort) => ({ ...cohort, status: "complete" })),
        waits: waited(state.waits, event.waited)
      }
    case "RewardedLate":
      // They took longer than the horizon, by an unknown time.
      return { ...state, waits: [], learning: learned(state, event) }
    case "Closed":
      return closed(state, event, decides)
    case "ValidationClosed":
      return without(state, event)
    case "Rewound":
      return {
        ...state,
        branch: event.branch,
        branches: [
          ...state.branches,
          { branch: event.branch, parent: parentOf(state, event), after: event.learning.population.step }
        ],
        rewinds: [...state.rewinds, { requestId: event.requestId, to: event.to, branch: event.branch }],
        opened: { ...state.opened, train: event.learning.population.step },
        cohorts: [],
        learning: event.learning
      }
    default:
      return { ...state, learning: learned(state, event) }
  }
}

/** The state of a population whose events are given, oldest first. */
export const fold = (events: Iterable<PopulationEvent>, decides: Observes = ofSettings): State => {
  let state: State | undefined
  for (const event of events) {
    if (state !== undefined) state = apply(state, event, decides)
    else if (event._tag === "Created") state = begin(event)
    else throw new UnexpectedEvent({ event: event._tag, expected: "Created first" })
  }
  if (state === undefined) throw new UnexpectedEvent({ event: "nothing", expected: "Created first" })
  return state
}

/** What had been learned on the present branch once every decision after a closed training cohort was made; null without that cohort. */
export const learnedUpTo = (
  events: Iterable<PopulationEvent>,
  to: string,
  decides: Observes = ofSettings
): Learning | null => {
  const closed = new Map<string, number>()
  const learned = new Map<number, Learning>()
  let state: State | undefined
  for (const event of events) {
    state = state === undefined ? fold([event]) : apply(state, event, decides)
    const { due, population } = state.learning
    const folded = population.step
    if (event._tag === "Closed") closed.set(event.cohort, event.index)
    if (event._tag === "Rewound") for (const [name, index] of closed) if (index > folded) closed.delete(name)
    // What is changed by hand after the decisions belongs to the next cohort.
    if (event._tag === "Closed") learned.delete(folded)
    if (due === "Nothing" && !learned.has(folded)) learned.set(folded, state.learning)
  }
  return learned.get(closed.get(to) ?? Number.NaN) ?? null
}

/** The branch that a new one leaves: the nearest of the present line that holds the cohort. */
const parentOf = (state: State, { learning }: EventOf<"Rewound">): number => {
  let branch = state.branch
  for (;;) {
    const from = state.branches.find((one) => one.branch === branch)
    if (from === undefined || from.after < learning.population.step) return branch
    branch = from.parent
  }
}

const withCohort = (
  state: State,
  event: { readonly _tag: string; readonly cohort: string },
  change: (cohort: Cohort) => Cohort
): State => {
  const at = state.cohorts.findIndex(({ name }) => name === event.cohort)
  const known = state.cohorts[at]
  if (known === undefined)
    throw new UnexpectedEvent({ event: event._tag, expected: `an open cohort, not ${event.cohort}` })
  return { ...state, cohorts: state.cohorts.with(at, change(known)) }
}

const without = (state: State, event: { readonly _tag: string; readonly cohort: string }): State => {
  const cohorts = state.cohorts.filter(({ name }) => name !== event.cohort)
  return { ...state, cohorts }
}

const opened = (state: State, event: EventOf<"CohortOpened">): State => {
  const { at, cohort, index, isNamed, isFullBatch, phase, shares } = event
  return {
    ...state,
    opened: { ...state.opened, [phase]: index },
    cohorts: [
      ...state.cohorts,
      {
        name: cohort,
        index,
        phase,
        isNamed,
        isFullBatch,
        status: "open",
        openedAt: at,
        sealedAt: null,
        rewardedAt: null,
        closing: null,
        shares,
        leases: HashMap.empty(),
        sticky: HashMap.empty(),
        numbers: {},
        units: 0,
        samples: 0,
        reported: 0
      }
    ]
  }
}

const leased = (cohort: Cohort, { leases }: EventOf<"Leased">): Cohort => {
  let { samples, sticky, units } = cohort
  const known = HashMap.mutate(cohort.leases, (mutable) => {
    for (const { isSticky, ...given } of leases) {
      const joins = isSticky && HashMap.has(sticky, given.unit)
      // A conversation of an earlier cohort is not a unit of this one.
      if (!joins && given.isCarried !== true) units++
      if (isSticky && !joins)
        sticky = HashMap.set(
          sticky,
          given.unit,
          Struct.pick(given, ["instruction", "probability", "isCarried", "replaces"])
        )
      samples += given.n
      HashMap.set(mutable, given.key, { ...given, place: units, samples: [] })
    }
  })
  return { ...cohort, leases: known, samples, sticky, units }
}

const rewarded = (
  cohort: Cohort,
  { at, rewards }: EventOf<"Rewarded">,
  { guardrails }: Pick<Settings, "guardrails">
): Cohort => {
  let { leases, reported } = cohort
  const numbers = { ...cohort.numbers }
  for (const { key, metrics, sample, value } of rewards) {
    const lease = Option.getOrUndefined(HashMap.get(leases, key))
    if (lease === undefined) throw new UnexpectedEvent({ event: "Rewarded", expected: `a lease, which ${key} is not` })
    const samples = [...lease.samples]
    while (samples.length < sample) samples.push(null)
    samples[sample] = value ?? "failed"
    const next = { ...lease, samples }
    if (knownSamples(next) === lease.n) reported++
    leases = HashMap.set(leases, key, next)
    const { instruction } = lease
    if (metrics !== undefined)
      numbers[instruction] = Guardrails.added(numbers[instruction], Guardrails.tallied(guardrails, metrics))
  }
  return { ...cohort, leases, numbers, reported, rewardedAt: at ?? cohort.rewardedAt }
}

/** What other guardrails than the new ones showed is forgotten. */
const configured = (state: State, { settings }: EventOf<"Configured">): State => ({
  ...state,
  settings,
  learning: {
    ...state.learning,
    stats: Record.map(state.learning.stats, (stats) => Guardrails.kept(stats, settings.guardrails))
  }
})

/** After what was learned by a cohort; which decisions follow is a matter of the schedule. */
const closed = (state: State, event: EventOf<"Closed">, decides: Observes): State => {
  const { closed, learning, questions, settings } = state
  const { index, units } = event
  const known = cohort(state, event.cohort)
  const next = learning.population.step + 1
  if (index !== next) throw new UnexpectedEvent({ event: "Closed", expected: `cohort ${next}, not ${index}` })
  const after = CohortEvidence.fold(decides(settings).valuation, learning, index, units, evidenceOf(settings, units))
  return {
    ...without(state, event),
    closed: {
      units: closed.units + units.length,
      lost: closed.lost + units.filter(({ missing }) => missing > 0).length,
      across: closed.across + (CohortEvidence.isAcross(learning, after) ? 1 : 0)
    },
    questions: CohortEvidence.asked(questions, units),
    // The draws of a cohort that is assigned as a whole depend on each other.
    sampleRatio:
      known === undefined || known.isFullBatch
        ? state.sampleRatio
        : SampleRatio.after(state.sampleRatio, known.shares, units),
    learning: Evolution.endUnit(schedule(state), withNumbers(after, event.numbers))
  }
}

const withNumbers = (learning: Learning, numbers: EventOf<"Closed">["numbers"] = {}): Learning =>
  Object.entries(numbers).reduce((after, [id, more]) => changed(after, id, (stats) => counted(stats, more)), learning)

const counted = (stats: MemberStats, more: Tallies): MemberStats => ({
  ...stats,
  numbers: Guardrails.added(stats.numbers, more)
})

type LearningEvent =
  | EvolutionEvent
  | EventOf<
      "MemberAdded" | "MemberPinned" | "MemberRetired" | "CandidateReviewed" | "Paused" | "RewardedLate" | "Concluded"
    >

const learned = (state: State, event: LearningEvent): Learning => {
  const { learning } = state
  switch (event._tag) {
    case "MemberAdded":
      return withStats(
        Evolution.enter(learning, [{ instruction: event.member, verification: null }]),
        [event.member],
        "hand"
      )
    case "MemberPinned":
      return pinned(learning, event)
    case "MemberRetired":
      return withoutStats(Evolution.leave(learning, [event.id]))
    case "CandidateReviewed":
      return { ...learning, reviews: learning.reviews.with(event.place, event.isApproved) }
    case "Paused":
      return paused(learning, event)
    case "RewardedLate":
      return event.rewards.reduce(
        (after, { instruction, metrics, stratum, value }) =>
          changed(after, instruction, (stats) => {
            const late = CohortEvidence.accumulateLate(stats, stratum, value)
            return metrics === undefined ? late : counted(late, Guardrails.tallied(state.settings.guardrails, metrics))
          }),
        learning
      )
    case "Concluded":
      return event.established.reduce<Learning>(
        (after, id) => changed(after, id, (stats) => ({ ...stats, isNewcomer: false })),
        { ...Evolution.rest(learning), incumbent: event.incumbent, proven: event.proven }
      )
    default:
      return evolved(state, event)
  }
}

/** What evolution makes of an event, and what serving keeps of the members that enter and leave by it. */
const evolved = (state: State, event: EvolutionEvent): Learning => {
  const learning = Evolution.apply(schedule(state), state.learning, event)
  switch (event._tag) {
    case "CandidatesProposed":
      return { ...learning, reviews: event.candidates.map(() => null) }
    case "VerificationBegun":
      return { ...learning, reviews: [] }
    case "Pruned":
      return { ...withoutStats(learning), incumbent: unseated(learning, event.pruned) }
    case "PopulationRefilled": {
      const entering = event.accepted.map(({ instruction }) => instruction)
      return {
        ...withStats(withoutStats(learning), entering, "evolution"),
        incumbent: unseated(learning, event.replaced)
      }
    }
    default:
      return learning
  }
}

const pinned = (learning: Learning, { id, isPinned }: EventOf<"MemberPinned">): Learning => ({
  ...learning,
  stats: Object.fromEntries(
    Object.entries(learning.stats).map(([own, stats]) => [
      own,
      own === id ? { ...stats, isPinned } : isPinned ? { ...stats, isPinned: false } : stats
    ])
  )
})

/** A member that is leased no more gives its place as the incumbent back to the seed. */
const paused = (learning: Learning, { broken, id }: EventOf<"Paused">): Learning => {
  const { incumbent, population, proven, seed } = learning
  const isLost = incumbent.id === id && Evolution.isAlive(population, seed)
  return {
    ...changed(learning, id, (stats) => ({ ...stats, paused: broken })),
    proven: proven.filter((one) => one !== id),
    incumbent: isLost ? { id: seed, content: contentOfMember(learning, seed), why: "nothing separates" } : incumbent
  }
}

/** A seed that is worse than others is the incumbent until one of them is chosen. */
const unseated = ({ incumbent, seed }: Learning, leaving: EventOf<"Pruned">["pruned"]): Incumbent =>
  incumbent.id === seed && leaving.some(({ id, reason }) => id === seed && reason === "worse")
    ? { ...incumbent, why: "the seed was pruned as worse" }
    : incumbent

/** Initial members are not newcomers. */
const newStats = (entering: ReadonlyArray<Instruction.Instruction>, entry: Entry): Learning["stats"] =>
  Object.fromEntries(
    entering.map(({ id }) => [id, { entry, isNewcomer: entry !== "creation", isPinned: false, tallies: {} }])
  )

/** With statistics of those that entered; candidates that shared the traffic have theirs. */
const withStats = (learning: Learning, entering: ReadonlyArray<Instruction.Instruction>, entry: Entry): Learning => ({
  ...learning,
  stats: {
    ...learning.stats,
    ...newStats(
      entering.filter(({ id }) => !Object.hasOwn(learning.stats, id)),
      entry
    )
  }
})

/** Without the statistics of those that left. */
const withoutStats = (learning: Learning): Learning => {
  const living = new Set<string>(learning.population.members.map(({ instruction }) => instruction.id))
  return { ...learning, stats: Object.fromEntries(Object.entries(learning.stats).filter(([id]) => living.has(id))) }
}

const changed = (learning: Learning, id: string, change: (stats: MemberStats) => MemberStats): Learning => {
  const stats = Object.hasOwn(learning.stats, id) ? learning.stats[id] : undefined
  return stats === undefined ? learning : { ...learning, stats: { ...learning.stats, [id]: change(stats) } }
}
