/** Grants new leases: in a cohort that knows their units, or in the open one, which is opened if there is none. */
import { Array as Arr, HashMap, Result, Option, Struct } from "effect"
import type { Archive } from "../Archive.ts"
import { type LeaseCommand, type LeaseRequest, refuse, type Refused } from "../Command.ts"
import type { EventOf, PopulationEvent, Given } from "../Event.ts"
import { isPaused } from "../Learning.ts"
import { shares } from "../Shares.ts"
import {
  type Cohort,
  type State,
  armKey,
  heldBy,
  incumbentOf,
  leaseId,
  type Share,
  type Sticky,
  unitOf
} from "../State.ts"
import type { Strategies } from "../Strategies.ts"
import { Invariant, Question } from "@inspo/domain"
import { isAlive } from "@inspo/evolution"
import { Choose, Sampler } from "@inspo/sampler"

/** A request for leases, and the population that it is put to. */
interface Asking {
  readonly strategies: Strategies
  readonly state: State
  readonly archive: Archive
  readonly command: LeaseCommand
}

/** The cohort that new leases are of, or the name under which it is opened. */
interface Target {
  readonly cohort: Cohort | undefined
  readonly name: string
}

export const grant = (
  asking: Asking,
  { cohort: found, name }: Target,
  fresh: ReadonlyArray<LeaseRequest>
): Result.Result<ReadonlyArray<PopulationEvent>, Refused> => {
  const { archive, command, state } = asking
  const room = requireRoom(state, fresh)
  if (Result.isFailure(room)) return Result.fail(room.failure)
  const { "": others = [], ...joining } = Arr.groupBy(fresh, (request) => joinable(state, command, request)?.name ?? "")
  const events: Array<PopulationEvent> = Object.entries(joining).map(([cohort, requests]) => ({
    _tag: "Leased",
    cohort,
    leases: requests.flatMap((request) => {
      const holder = joinable(state, command, request)
      return holder === undefined ? [] : joined(state, holder, request)
    })
  }))
  if (others.length === 0) return Result.succeed(events)
  const units = sumOf(others, ({ instructions }) => instructions)
  const admitted = requireCohort(state, { cohort: found, name }, units)
  if (Result.isFailure(admitted)) return Result.fail(admitted.failure)
  const opening = found === undefined ? open(asking, name) : null
  if (opening !== null) events.push(...endingEarlierRuns(state, opening), opening)
  const frozen = found ?? opening
  if (frozen === null) return Result.succeed(events)
  const cohort = found?.name ?? name
  const leases =
    command.isFullBatch && frozen.phase === "train"
      ? whole(state, cohort, frozen, others)
      : others.flatMap((request) => single(state, archive, { cohort, command, shares: frozen.shares }, request))
  events.push({ _tag: "Leased", cohort, leases })
  return Result.succeed(events)
}

/** Whether a cohort takes so many units more: it is open, or can be opened. */
const requireCohort = (
  { cohorts, limits: { openCohorts, unitsPerCohort } }: State,
  { cohort, name }: Target,
  units: number
): Result.Result<void, Refused> => {
  if (cohort !== undefined && cohort.status !== "open")
    return refuse("closed", "cohort", name, "a cohort that is not sealed", "Name the next cohort")
  const [oldest] = cohorts
  if (cohort === undefined && oldest !== undefined && cohorts.length >= openCohorts)
    return refuse(
      "limit",
      "cohort",
      name,
      `at most ${openCohorts} cohorts that are not closed`,
      `Close ${oldest.name}, which those after it wait for: its trainer does, or the one that takes over from it. Trainers that run at the same time each need a population of their own`
    )
  return (cohort?.units ?? 0) + units > unitsPerCohort
    ? refuse("limit", "requests", units, `at most ${unitsPerCohort} units in a cohort`, "Name another cohort")
    : Result.void
}

/** Closes what an earlier training run left open: cohorts are folded in order, so nothing would be learned from another run. */
const endingEarlierRuns = (
  { cohorts, settings }: State,
  { cohort: name, isNamed, phase }: EventOf<"CohortOpened">
): ReadonlyArray<PopulationEvent> =>
  settings.profile === "trainer" && isNamed && phase === "train"
    ? cohorts
        .filter((one) => one.isNamed && one.phase === "train" && runOf(one.name) !== runOf(name))
        .filter(({ closing, status }) => status !== "complete" && closing !== 0)
        .map((one) => ({ _tag: "CloseRequested", cohort: one.name, groups: 0 }))
    : []

/** The training run of a cohort: its name up to the last `/`. */
const runOf = (cohort: string): string => cohort.slice(0, Math.max(0, cohort.lastIndexOf("/")))

const open = ({ command, state, strategies }: Asking, name: string): EventOf<"CohortOpened"> => {
  const { cohort: named, isFullBatch, now, phase } = command
  const { learning, settings } = state
  const values = strategies.valuation.values(learning.population)
  return {
    _tag: "CohortOpened",
    cohort: name,
    index: state.opened[phase] + 1,
    phase,
    isNamed: named !== null,
    isFullBatch,
    values: phase === "train" ? values : [],
    shares:
      phase === "train" ? shares(settings.sampler, learning, values) : [{ id: incumbentOf(state).id, probability: 1 }],
    at: now
  }
}

/** Leases that are not closed are held in memory, here and after a restart. */
const requireRoom = (
  { cohorts, limits }: State,
  requests: ReadonlyArray<Pick<LeaseRequest, "instructions" | "n">>
): Result.Result<void, Refused> => {
  const bounds = [
    [
      "leases",
      limits.openLeases,
      sumOf(requests, ({ instructions }) => instructions),
      sumOf(cohorts, ({ leases }) => HashMap.size(leases))
    ],
    [
      "samples",
      limits.openSamples,
      sumOf(requests, ({ instructions, n }) => instructions * n),
      sumOf(cohorts, ({ samples }) => samples)
    ]
  ] as const
  const over = bounds.find(([, limit, asked, held]) => held + asked > limit)
  if (over === undefined) return Result.void
  const [what, limit, asked, held] = over
  return refuse(
    "limit",
    what,
    `${asked} in addition to ${held} open ones`,
    `at most ${limit} ${what} in cohorts that are not closed`,
    "Report rewards, close cohorts, or set a shorter horizon"
  )
}

const sumOf = <A>(all: ReadonlyArray<A>, of: (one: A) => number): number => {
  let sum = 0
  for (const one of all) sum += of(one)
  return sum
}

/** The cohort in which the unit of a sticky request is known: its turns are of one outcome, also once it is sealed. */
const joinable = (
  state: State,
  { cohort: name, isFullBatch, phase }: LeaseCommand,
  request: LeaseRequest
): Cohort | undefined =>
  request.sticky === null || isFullBatch
    ? undefined
    : state.cohorts.find(
        (one) =>
          one.phase === phase &&
          one.status !== "complete" &&
          (name === null ? !one.isNamed : one.name === name) &&
          heldBy(state, one, unitOf(request)) !== undefined
      )

/** The lease of a sticky request in the cohort that knows its unit; none if it does not. */
const joined = (state: State, { name, sticky }: Cohort, request: LeaseRequest): ReadonlyArray<Given> =>
  Option.match(HashMap.get(sticky, unitOf(request)), {
    onNone: () => [],
    onSome: (held) => [lease(state, name, request, held)]
  })

/**
 * The leases of a request alone: what its unit was given in a closed cohort, or a draw from its own stream. A draw replaces what the
 * unit was given if that instruction is not alive any more.
 */
const single = (
  state: State,
  archive: Archive,
  { cohort, command, shares }: Drawing,
  request: LeaseRequest
): ReadonlyArray<Given> => {
  const known = carries(command, request) ? archive.sticky(state.branch, unitOf(request)) : []
  const { population, stats } = state.learning
  const carried = known.find(({ instruction }) => isAlive(population, instruction) && !isPaused(stats, instruction))
  if (carried !== undefined)
    return [lease(state, cohort, request, { ...Struct.pick(carried, ["instruction", "probability"]), isCarried: true })]
  const draw = { seed: state.settings.randomSeed, path: ["lease", cohort, unitOf(request)], shares }
  if (request.instructions > 1)
    return onQuestion(
      state,
      cohort,
      request,
      Sampler.distinct({ ...draw, instructionsPerQuestion: request.instructions })
    )
  const { id, probability } = Choose.choose(draw)
  const [first] = known
  const replaced = first === undefined ? {} : { replaces: first.instruction }
  return [lease(state, cohort, request, { instruction: id, probability, ...replaced })]
}

/** The cohort that draws are of, with the shares that it has frozen. */
interface Drawing {
  readonly cohort: string
  readonly command: LeaseCommand
  readonly shares: Cohort["shares"]
}

/** Whether the unit of a request keeps its instruction beyond a cohort. */
const carries = ({ cohort, phase }: LeaseCommand, { sticky }: LeaseRequest): boolean =>
  sticky !== null && cohort === null && phase === "train"

/** Assigns all requests together: some questions to several instructions, and then others to none. */
const whole = (
  state: State,
  cohort: string,
  { index, shares }: Pick<Cohort, "index" | "shares">,
  requests: ReadonlyArray<LeaseRequest>
): ReadonlyArray<Given> => {
  const { randomSeed, sampler } = state.settings
  const { instructionsPerQuestion } = sampler
  const draws = Sampler.drawsPerQuestion(
    shares.map(({ probability }) => probability),
    requests.length,
    instructionsPerQuestion
  )
  const probabilities = new Map(shares.map(({ id, probability }) => [id, Math.min(1, probability * draws)]))
  const assigned = Sampler.assign(
    { assignment: "stratified", sharing: { _tag: "Groups", instructionsPerQuestion } },
    { seed: randomSeed, step: index, shares, questions: requests.map((request) => questionOf(cohort, request)) }
  )
  return Arr.zip(requests, assigned).flatMap(([request, ids]) =>
    onQuestion(
      state,
      cohort,
      request,
      ids.map((id) => ({ id, probability: Invariant.get(probabilities, id, "share") }))
    )
  )
}

const lease = (
  { branch }: State,
  cohort: string,
  request: LeaseRequest,
  { instruction, isCarried, probability, replaces }: Sticky
): Given => ({
  lease: leaseId(branch, cohort, request.key),
  key: request.key,
  n: request.n,
  instruction,
  probability,
  unit: unitOf(request),
  isSticky: request.sticky !== null,
  ...(isCarried === undefined ? {} : { isCarried }),
  ...(replaces === undefined ? {} : { replaces }),
  stratum: request.stratum,
  question: request.question
})

/** A question without an id is unknown in other cohorts. */
const questionOf = (cohort: string, { key, question, stratum }: LeaseRequest) => ({
  id: question ?? Question.QuestionId.make(`${cohort}/${key}`),
  dataSource: stratum
})

/** The leases of several instructions on one question: the first has the key of the request. */
const onQuestion = (
  state: State,
  cohort: string,
  request: LeaseRequest,
  drawn: ReadonlyArray<Share>
): ReadonlyArray<Given> =>
  drawn.map(({ id, probability }, place) =>
    lease(
      state,
      cohort,
      {
        ...request,
        key: place === 0 ? request.key : armKey(request.key, id),
        sticky: null,
        question: questionOf(cohort, request).id
      },
      { instruction: id, probability }
    )
  )
