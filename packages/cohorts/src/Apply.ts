/** What an event makes of the state: it copies what was decided and chooses nothing. */
import type { InstructionId } from "@inspo/domain/Instruction"
import * as Invariant from "@inspo/domain/Invariant"
import * as Population from "@inspo/population/Population"
import * as Round from "@inspo/verification/Round"
import { HashMap, Option, Schema, Struct } from "effect"
import type { EventOf, PopulationEvent } from "./Event.ts"
import * as Evidence from "./Evidence.ts"
import { waited } from "./Horizon.ts"
import type { Dossier, Entry, Evolution, Incumbent, Learning, Newcomer, Phase, Stage, Unit } from "./Learning.ts"
import { type Cohort, known, type State } from "./State.ts"

/** An event that cannot follow those before it: the log is not of one piece. */
export class UnexpectedEvent extends Schema.TaggedError<UnexpectedEvent>()("UnexpectedEvent", {
  event: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `log: ${this.event} cannot happen: ${this.reason}`
  }
}

/** The state of a population that was created and nothing else. */
export const begin = ({ members, settings }: EventOf<"Created">): State => {
  const [seed] = members
  const empty: Learning = {
    folded: 0,
    phase: "Rest",
    population: Population.make([]),
    dossiers: {},
    seed: seed.instruction.id,
    generation: 0,
    pairs: {},
    born: 0,
    guaranteed: [],
    evolution: null,
    incumbent: { id: seed.instruction.id, content: seed.content, why: "nothing separates" },
    trial: []
  }
  const learning = enter(
    empty,
    members.map((member) => ({ ...member, verification: null })),
    "creation"
  )
  return {
    settings,
    isFrozen: false,
    branch: 0,
    branches: [],
    rewinds: [],
    opened: { train: 0, validation: 0 },
    closed: { units: 0, lost: 0 },
    waits: [],
    cohorts: [],
    learning: { ...learning, guaranteed: Population.ids(learning.population) }
  }
}

/** The state after an event. Throws {@link UnexpectedEvent} on one that cannot follow. */
export const apply = (state: State, event: PopulationEvent): State => {
  switch (event._tag) {
    case "Created":
      throw new UnexpectedEvent({ event: event._tag, reason: "the population exists" })
    case "Configured":
      return { ...state, settings: event.settings }
    case "Frozen":
      return { ...state, isFrozen: event.isFrozen }
    case "CohortOpened":
      return opened(state, event)
    case "Leased":
      return withCohort(state, event, (cohort) => leased(cohort, event))
    case "Rewarded":
      return withCohort(state, event, (cohort) => rewarded(cohort, event))
    case "CloseRequested":
      return withCohort(state, event, (cohort) => ({ ...cohort, closing: event.groups }))
    case "Sealed":
      return withCohort(state, event, (cohort) => ({ ...cohort, status: "sealed", sealedAt: event.at }))
    case "Settled":
      return {
        ...withCohort(state, event, (cohort) => ({ ...cohort, status: "settled" })),
        waits: waited(state.waits, event.waited)
      }
    case "RewardedLate":
      // They took longer than was waited for, nobody knows how much.
      return { ...state, waits: [], learning: learned(state, event) }
    case "Closed":
      return { ...without(state, event), closed: counted(state, event), learning: closed(state, event) }
    case "ValidationClosed":
      return without(state, event)
    case "Rewound":
      return {
        ...state,
        branch: event.branch,
        branches: [
          ...state.branches,
          { branch: event.branch, parent: parentOf(state, event), after: event.learning.folded }
        ],
        rewinds: [...state.rewinds, { requestId: event.requestId, to: event.to, branch: event.branch }],
        opened: { ...state.opened, train: event.learning.folded },
        cohorts: [],
        learning: event.learning
      }
    default:
      return { ...state, learning: learned(state, event) }
  }
}

/** The state of a population whose events are given, oldest first. */
export const fold = (events: Iterable<PopulationEvent>): State => {
  let state: State | undefined
  for (const event of events) {
    if (state !== undefined) state = apply(state, event)
    else if (event._tag === "Created") state = begin(event)
    else throw new UnexpectedEvent({ event: event._tag, reason: "the population does not exist" })
  }
  if (state === undefined) throw new UnexpectedEvent({ event: "nothing", reason: "a log begins with Created" })
  return state
}

/**
 * What had been learned on the present branch when a training cohort was closed and every decision after it was made; null
 * where no such cohort was closed there.
 */
export const learnedUpTo = (events: Iterable<PopulationEvent>, to: string): Learning | null => {
  const closed = new Map<string, number>()
  const learned = new Map<number, Learning>()
  let state: State | undefined
  for (const event of events) {
    state = state === undefined ? fold([event]) : apply(state, event)
    const { folded, phase } = state.learning
    if (event._tag === "Closed") closed.set(event.cohort, event.index)
    if (event._tag === "Rewound") for (const [name, index] of closed) if (index > folded) closed.delete(name)
    // What is changed by hand after the decisions belongs to the next cohort.
    if (event._tag === "Closed") learned.delete(folded)
    if (phase === "Rest" && !learned.has(folded)) learned.set(folded, state.learning)
  }
  return learned.get(closed.get(to) ?? Number.NaN) ?? null
}

/** The branch that a new one leaves: the nearest of the present line that holds the cohort. */
const parentOf = (state: State, { learning }: EventOf<"Rewound">): number => {
  let branch = state.branch
  for (;;) {
    const from = state.branches.find((one) => one.branch === branch)
    if (from === undefined || from.after < learning.folded) return branch
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
  if (known === undefined) throw new UnexpectedEvent({ event: event._tag, reason: `${event.cohort} is not open` })
  return { ...state, cohorts: state.cohorts.with(at, change(known)) }
}

const without = (state: State, event: { readonly _tag: string; readonly cohort: string }): State => {
  const cohorts = state.cohorts.filter(({ name }) => name !== event.cohort)
  return { ...state, cohorts }
}

const opened = (state: State, event: EventOf<"CohortOpened">): State => {
  const { at, cohort, index, isNamed, isWhole, phase, shares, weights } = event
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
        isWhole,
        status: "open",
        openedAt: at,
        sealedAt: null,
        rewardedAt: null,
        closing: null,
        weights,
        shares,
        leases: HashMap.empty(),
        sticky: HashMap.empty(),
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
      // A conversation that is carried on is no unit of this cohort.
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

const rewarded = (cohort: Cohort, { at, rewards }: EventOf<"Rewarded">): Cohort => {
  let { leases, reported } = cohort
  for (const { key, sample, value } of rewards) {
    const lease = Option.getOrUndefined(HashMap.get(leases, key))
    if (lease === undefined) throw new UnexpectedEvent({ event: "Rewarded", reason: `${key} was not leased` })
    const samples = Array.from({ length: Math.max(lease.samples.length, sample + 1) }, (_, at) =>
      at === sample ? (value ?? "failed") : (lease.samples[at] ?? null)
    )
    const next = { ...lease, samples }
    if (known(next) === lease.n) reported++
    leases = HashMap.set(leases, key, next)
  }
  return { ...cohort, leases, reported, rewardedAt: at ?? cohort.rewardedAt }
}

const counted = ({ closed: { lost, units } }: State, event: EventOf<"Closed">): State["closed"] => ({
  units: units + event.units.length,
  lost: lost + event.units.filter(({ silent }) => silent > 0).length
})

/** What was learned by a cohort; which decisions follow is a matter of the schedule. */
const closed = (state: State, { index, units }: EventOf<"Closed">): Learning => {
  const { learning, settings } = state
  const { evolution } = learning
  if (index !== learning.folded + 1)
    throw new UnexpectedEvent({ event: "Closed", reason: `cohort ${index} does not follow ${learning.folded}` })
  const folded = Evidence.fold(settings, settings.silence, { ...learning, guaranteed: [] }, index, units)
  if (evolution === null) return { ...folded, phase: afterFold(state, index) }
  const { stage } = evolution
  if (stage._tag === "Sharing")
    return {
      ...folded,
      evolution: { ...evolution, stage: scored(stage, units) },
      phase: state.isFrozen ? "Conclude" : "Judge"
    }
  if (stage._tag === "Pairing")
    return state.isFrozen ? { ...folded, phase: "Conclude" } : { ...folded, trial: units, phase: "Score" }
  return { ...folded, phase: pruning(state, index) }
}

/** Units of candidates, and of their parent in the cohorts that had candidates, since the trial began. */
const scored = (
  stage: Extract<Stage, { readonly _tag: "Sharing" }>,
  units: ReadonlyArray<Unit>
): Extract<Stage, { readonly _tag: "Sharing" }> => {
  const add = (id: InstructionId | undefined, score: { readonly units: number; readonly sum: number }) =>
    units
      .filter(({ instruction, rewards }) => instruction === id && rewards.length > 0)
      .reduce(
        ({ sum, units }, { rewards }) => ({
          units: units + 1,
          sum: sum + rewards.reduce((total, reward) => total + reward, 0) / rewards.length
        }),
        score
      )
  const tried = new Set(stage.ids)
  return {
    ...stage,
    scores: stage.scores.map((score, place) => add(stage.ids[place], score)),
    parentScore: units.some(({ instruction }) => tried.has(instruction))
      ? add(stage.parent, stage.parentScore)
      : stage.parentScore
  }
}

const afterFold = (state: State, step: number): Phase => {
  const phase = pruning(state, step)
  return phase === "Prune" ? phase : afterPruning(state, step)
}

const pruning = ({ isFrozen, learning, settings }: State, step: number): Phase =>
  !isFrozen && divides(settings.pruneEvery, step) && learning.population.members.length > settings.parents
    ? "Prune"
    : "Conclude"

const afterPruning = ({ isFrozen, settings: { evolveEvery, evolveUntil } }: State, step: number): Phase =>
  !isFrozen && divides(evolveEvery, step) && (evolveUntil === null || step <= evolveUntil)
    ? "ChooseParents"
    : "Conclude"

const divides = (period: number, step: number): boolean => period > 0 && step % period === 0

type LearningEvent = Exclude<
  PopulationEvent,
  {
    readonly _tag:
      | "Created"
      | "Configured"
      | "Frozen"
      | "CohortOpened"
      | "Leased"
      | "Rewarded"
      | "CloseRequested"
      | "Sealed"
      | "Settled"
      | "Closed"
      | "ValidationClosed"
      | "Rewound"
  }
>

const learned = (state: State, event: LearningEvent): Learning => {
  const { learning } = state
  switch (event._tag) {
    case "MemberAdded":
      return enter(learning, [{ ...event.member, verification: null }], "hand")
    case "MemberPinned":
      return pinned(learning, event)
    case "MemberRetired":
      return leave(learning, [event.id])
    case "RewardedLate":
      return event.rewards.reduce(
        (told, { instruction, stratum, value }) =>
          changed(told, instruction, (dossier) => Evidence.tellLate(dossier, stratum, value)),
        learning
      )
    case "Pruned":
      return {
        ...leave(
          learning,
          event.pruned.map(({ id }) => id)
        ),
        incumbent: unseated(learning, event.pruned),
        phase: learning.evolution === null ? afterPruning(state, event.step) : "Conclude"
      }
    case "Concluded":
      return event.established.reduce<Learning>(
        (told, id) => changed(told, id, (dossier) => ({ ...dossier, isNewcomer: false })),
        { ...learning, incumbent: event.incumbent, phase: "Rest" }
      )
    default:
      return evolved(state, event)
  }
}

type EvolutionEvent = Exclude<
  LearningEvent,
  {
    readonly _tag: "MemberAdded" | "MemberPinned" | "MemberRetired" | "RewardedLate" | "Pruned" | "Concluded"
  }
>

const evolved = (state: State, event: EvolutionEvent): Learning => {
  const { learning, settings } = state
  if (event._tag === "ParentsChosen")
    return {
      ...learning,
      phase: "Conclude",
      evolution: { step: event.step, round: 1, parents: event.parents, verified: [], stage: { _tag: "Proposing" } }
    }
  const { evolution } = learning
  if (evolution === null) throw new UnexpectedEvent({ event: event._tag, reason: "nothing evolves" })
  const { stage } = evolution
  switch (event._tag) {
    case "CandidatesProposed": {
      const { candidates, parent, reflected } = event
      const verdicts = candidates.map(() => null)
      return {
        ...learning,
        evolution: { ...evolution, stage: { _tag: "Approving", parent, candidates, reflected, verdicts } }
      }
    }
    case "CandidateReviewed":
      return stage._tag === "Approving"
        ? {
            ...learning,
            evolution: {
              ...evolution,
              stage: { ...stage, verdicts: stage.verdicts.with(event.place, event.isApproved) }
            }
          }
        : learning
    case "TrialBegun":
      return begun(learning, evolution, event, settings.trial.samples > 0)
    case "EvolutionSkipped":
      return { ...learning, evolution: null }
    case "TrialScored":
      return stage._tag === "Pairing"
        ? {
            ...learning,
            trial: [],
            phase: "Judge",
            evolution: { ...evolution, stage: { ...stage, round: Round.record(stage.round, { ...event }) } }
          }
        : learning
    case "TrialContinued":
      return {
        ...learning,
        phase: stage._tag === "Sharing" ? pruning(state, learning.folded) : "Conclude",
        evolution:
          stage._tag === "Pairing"
            ? { ...evolution, stage: { ...stage, round: Round.proceed(stage.round, event.remaining) } }
            : evolution
      }
    case "CandidatesJudged":
      return judged(learning, evolution, event)
    case "Refilled":
      return refilled(learning, event)
  }
}

/** Candidates begin to be tried: with questions of their own, or among the members. */
const begun = (
  learning: Learning,
  evolution: Evolution,
  { candidates, entering }: EventOf<"TrialBegun">,
  asks: boolean
): Learning => {
  const { stage } = evolution
  if (stage._tag !== "Approving") return learning
  const { parent, reflected } = stage
  const none = { units: 0, sum: 0 }
  const isPaired = entering.length === 0
  return {
    ...enter(
      learning,
      entering.map((one) => ({ ...one, verification: null })),
      "evolution"
    ),
    phase: candidates.length === 0 || !asks ? "Judge" : learning.phase,
    evolution: {
      ...evolution,
      stage: isPaired
        ? { _tag: "Pairing", parent, candidates, reflected, round: Round.begin(candidates.length) }
        : {
            _tag: "Sharing",
            parent,
            candidates,
            ids: entering.map(({ instruction }) => instruction.id),
            scores: entering.map(() => none),
            parentScore: none
          }
    }
  }
}

const judged = (learning: Learning, evolution: Evolution, event: EventOf<"CandidatesJudged">): Learning => {
  const { stage } = evolution
  if (stage._tag !== "Pairing" && stage._tag !== "Sharing") return learning
  const verdicts = Invariant.zip(stage.candidates, event.verdicts, "candidates and verdicts")
  const verified = [
    ...evolution.verified,
    ...verdicts.map(([candidate, verdict]) => ({ ...verdict, candidate, parent: stage.parent }))
  ]
  return event.again
    ? {
        ...learning,
        phase: "Conclude",
        evolution: { ...evolution, round: evolution.round + 1, verified, stage: { _tag: "Proposing" } }
      }
    : { ...learning, phase: "Refill", evolution: { ...evolution, verified } }
}

const refilled = (learning: Learning, event: EventOf<"Refilled">): Learning => {
  const remaining = leave(
    learning,
    event.replaced.map(({ id }) => id)
  )
  const entering = event.accepted.filter(({ instruction }) => !Object.hasOwn(remaining.dossiers, instruction.id))
  const reset = {
    ...remaining,
    incumbent: unseated(learning, event.replaced),
    population: Population.resetWindows(remaining.population)
  }
  const entered = enter(
    reset,
    entering.map(({ content, instruction, mean, questions }) => ({
      content,
      instruction,
      verification: questions === 0 ? null : { mean, groups: questions, rival: null }
    })),
    "evolution"
  )
  return {
    ...entered,
    guaranteed: event.accepted.map(({ instruction }) => instruction.id),
    evolution: null,
    phase: "Conclude"
  }
}

const pinned = (learning: Learning, { id, isPinned }: EventOf<"MemberPinned">): Learning => ({
  ...learning,
  dossiers: Object.fromEntries(
    Object.entries(learning.dossiers).map(([own, dossier]) => [
      own,
      own === id ? { ...dossier, isPinned } : isPinned ? { ...dossier, isPinned: false } : dossier
    ])
  )
})

/** A seed that is worse than others is the incumbent until one of them is chosen. */
const unseated = ({ incumbent, seed }: Learning, leaving: EventOf<"Pruned">["pruned"]): Incumbent =>
  incumbent.id === seed && leaving.some(({ id, reason }) => id === seed && reason === "worse")
    ? { ...incumbent, why: "the seed was pruned as worse" }
    : incumbent

/** Members enter together: one generation, whose pairs share its part of δ. Those of the creation are no newcomers. */
const enter = (
  learning: Learning,
  newcomers: ReadonlyArray<Newcomer & Pick<Population.Newcomer, "verification">>,
  entry: Entry
): Learning => {
  if (newcomers.length === 0) return learning
  const generation = learning.generation + 1
  const dossiers = newcomers.map(({ content, instruction }): readonly [string, Dossier] => [
    instruction.id,
    {
      content,
      entry,
      generation,
      isNewcomer: entry !== "creation",
      isPinned: false,
      bounds: Evidence.unknown,
      shown: {}
    }
  ])
  return {
    ...learning,
    generation,
    born: learning.born + newcomers.length,
    population: Population.add(learning.population, newcomers),
    dossiers: { ...learning.dossiers, ...Object.fromEntries(dossiers) },
    pairs: {
      ...learning.pairs,
      [String(generation)]: Evidence.pairsOf(learning.population.members.length, newcomers.length)
    }
  }
}

const leave = (learning: Learning, leaving: ReadonlyArray<InstructionId>): Learning => {
  const left = new Set<string>(leaving)
  const dossiers = Object.entries(learning.dossiers)
    .filter(([id]) => !left.has(id))
    .map(
      ([id, dossier]) => [id, { ...dossier, bounds: { ...dossier.bounds, shared: stripped(dossier, left) } }] as const
    )
  const generations = new Set(dossiers.map(([, { generation }]) => String(generation)))
  return {
    ...learning,
    population: Population.remove(learning.population, leaving),
    guaranteed: learning.guaranteed.filter((id) => !left.has(id)),
    dossiers: Object.fromEntries(dossiers),
    pairs: Object.fromEntries(Object.entries(learning.pairs).filter(([generation]) => generations.has(generation)))
  }
}

const stripped = ({ bounds }: Dossier, left: ReadonlySet<string>): Dossier["bounds"]["shared"] =>
  Object.fromEntries(Object.entries(bounds.shared).filter(([id]) => !left.has(id)))

const changed = (learning: Learning, id: InstructionId, change: (dossier: Dossier) => Dossier): Learning => {
  const dossier = Object.hasOwn(learning.dossiers, id) ? learning.dossiers[id] : undefined
  return dossier === undefined ? learning : { ...learning, dossiers: { ...learning.dossiers, [id]: change(dossier) } }
}
