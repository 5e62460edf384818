/** Assigns leases to requests: the earlier lease, or one drawn from the request's own stream. */
import * as Invariant from "@inspo/domain/Invariant"
import type { InstructionId } from "@inspo/domain/Instruction"
import { QuestionId } from "@inspo/domain/Question"
import { isAlive } from "@inspo/evolution/State"
import * as Choose from "@inspo/sampler/Choose"
import * as Sampler from "@inspo/sampler/Sampler"
import { Array as Arr, HashMap, Option, Result, Struct } from "effect"
import { type Archive, type ArchivedLease, closedIndex } from "../Archive.ts"
import { type LeaseAnswer, type LeaseCommand, type LeaseRequest, refuse, type Refused } from "../Command.ts"
import type { EventOf, Given, PopulationEvent } from "../Event.ts"
import { sealsAt, settlesAt } from "../Horizon.ts"
import { incumbentOf } from "../Learning.ts"
import { shares } from "../Shares.ts"
import {
  ancestry,
  armKey,
  baseKey,
  cohort,
  type Cohort,
  type Lease,
  leaseId,
  type Share,
  type State,
  type Sticky,
  unitOf
} from "../State.ts"
import type { Strategies } from "../Strategies.ts"

/** The events of a request for leases; the answer is read from the state after them. */
export const lease = (
  strategies: Strategies,
  state: State,
  archive: Archive,
  command: LeaseCommand
): Result.Result<ReadonlyArray<PopulationEvent>, Refused> => {
  const target = Result.flatMap(validate(state, command), () => targetOf(state, archive, command))
  if (Result.isFailure(target)) return Result.fail(target.failure)
  const fresh: Array<LeaseRequest> = []
  for (const request of command.requests) {
    const known = knownLease(state, archive, command, request.key)
    if (known === undefined) fresh.push(request)
    else if (known.n !== request.n)
      return refuse(
        "conflict",
        "n",
        request.n,
        String(known.n),
        "Repeat the n of the first request, or use another key",
        request.key
      )
  }
  const { cohort: found, name } = target.success
  const [first] = fresh
  if (first === undefined) return Result.succeed([])
  // Questions that several instructions answer take the places of others, which have no lease then.
  if (command.isFullBatch && (found !== undefined || name === null))
    return fresh.length < command.requests.length
      ? Result.succeed([])
      : refuse("closed", "key", first.key, `a key of ${command.cohort}, which was assigned as a whole`, otherCohort)
  return grant(strategies, state, archive, command, fresh, found, name ?? "")
}

/** The leases of a request, in its order, with those of all instructions on its questions. */
export const answers = (state: State, archive: Archive, command: LeaseCommand): ReadonlyArray<LeaseAnswer> => {
  const batch = command.cohort === null ? undefined : cohort(state, command.cohort)
  if (batch?.isFullBatch === true) {
    const asked = new Set(command.requests.map(({ key }) => key))
    return HashMap.toValues(batch.leases)
      .filter(({ key }) => asked.has(baseKey(key)))
      .sort((a, b) => a.place - b.place)
      .map((one) => answer(state, batch, one))
  }
  if (command.isFullBatch) return archivedBatch(state, archive, command)
  return command.requests.flatMap(({ instructions, key }) => {
    const open = cohortOf(state, command, key)
    const one = open === undefined ? undefined : Option.getOrUndefined(HashMap.get(open.leases, key))
    if (open !== undefined && one !== undefined)
      return [one, ...(instructions > 1 ? armsIn(open, key) : [])].map((lease) => answer(state, open, lease))
    const archived = archivedLease(state, archive, command, key)
    if (archived === undefined) throw new Invariant.InvariantBroken(`the lease of ${key}`)
    const arms = instructions > 1 ? archived.arms : []
    return [archived, ...arms.flatMap((arm) => archivedLease(state, archive, command, arm) ?? [])].map(past)
  })
}

/** The leases of further instructions on the question of a key. */
const armsIn = ({ leases, shares }: Cohort, key: string): ReadonlyArray<Lease> =>
  shares.flatMap(({ id }) => Option.toArray(HashMap.get(leases, armKey(key, id)))).sort((a, b) => a.place - b.place)

/** The leases of a whole cohort that is closed: those of the questions, under all their instructions. */
const archivedBatch = (state: State, archive: Archive, command: LeaseCommand): ReadonlyArray<LeaseAnswer> => {
  const find = (key: string) => archivedLease(state, archive, command, key) ?? []
  return command.requests
    .flatMap(({ key }) => find(key))
    .flatMap((own) => [own, ...own.arms.flatMap(find)])
    .sort((a, b) => a.place - b.place)
    .map(past)
}

/** A lease of the archive, without a time: its cohort is closed, or is about to be. */
const past = (one: ArchivedLease): LeaseAnswer => shown(one, one.cohort, null)

const answer = (state: State, cohort: Cohort, one: Lease): LeaseAnswer =>
  shown(one, cohort.name, settlesAt(state, cohort.sealedAt ?? sealsAt(state, cohort)))

const shown = (one: Lease | ArchivedLease, cohort: string, closesAt: number | null): LeaseAnswer => ({
  ...Struct.pick(one, ["lease", "key", "n", "instruction", "probability", "question"]),
  cohort,
  replaces: one.replaces ?? null,
  closesAt
})

/** The names that the population gives to cohorts of its own. */
const ownPrefix = "auto/"

const otherCohort = "Name another cohort"

const validate = (
  { limits }: State,
  { cohort: name, isFullBatch, requests }: LeaseCommand
): Result.Result<void, Refused> => {
  const bad = (field: string, value: string | number, expected: string, remedy: string, of: string | null = null) =>
    refuse("invalid", field, value, expected, remedy, of)
  const { textLength, unitsPerCohort } = limits
  if (name !== null && (name === "" || name.startsWith(ownPrefix) || !name.isWellFormed()))
    return bad("cohort", name, `a well-formed name that does not begin with ${ownPrefix}`, "Rename the cohort")
  if (isFullBatch && name === null)
    return bad("cohort", "absent", "a name, as the cohort is assigned as a whole", "Name the cohort")
  if (requests.length > unitsPerCohort)
    return bad("requests", requests.length, `at most ${unitsPerCohort}`, "Split the request")
  const seen = new Set<string>()
  for (const { instructions, key, n, question, sticky, stratum } of requests) {
    for (const [field, text] of Object.entries({ key, stratum, sticky: sticky ?? "-", question: question ?? "-" }))
      if (text === "" || text.length > Math.min(textLength, 1000) || !text.isWellFormed())
        return bad(
          field,
          text.slice(0, 80),
          "well-formed text of 1 to 1000 characters",
          "Shorten it, or replace lone surrogates"
        )
    if (!Number.isSafeInteger(n) || n < 1 || n > 10_000)
      return bad("n", n, "a whole number from 1 to 10000", "Split the samples over several keys", key)
    if (!Number.isSafeInteger(instructions) || instructions < 1 || instructions > 1000)
      return bad("instructions", instructions, "a whole number from 1 to 1000", "Request fewer instructions", key)
    if (instructions > 1 && isFullBatch)
      return bad(
        "instructions",
        instructions,
        "1 in a cohort that is assigned as a whole",
        "Set sampler.instructionsPerQuestion",
        key
      )
    if (instructions > 1 && sticky !== null)
      return bad(
        "instructions",
        instructions,
        "1 with a sticky key, which keeps its instruction",
        "Leave out sticky",
        key
      )
    if (baseKey(key) !== key)
      return bad("key", key, "a key that does not end in # and the id of an instruction", "Rename the key")
    if (seen.has(key))
      return bad("key", key, "each key once in a request", "Remove the repetition, or ask for n samples")
    seen.add(key)
  }
  return Result.void
}

interface Target {
  readonly cohort: Cohort | undefined
  /** The name of a cohort that has to be opened; null where only known leases can be asked for. */
  readonly name: string | null
}

/** The cohort that new leases would be of. */
const targetOf = (
  state: State,
  archive: Archive,
  { cohort: name, isFullBatch, phase, requests }: LeaseCommand
): Result.Result<Target, Refused> => {
  const known = name === null ? undefined : cohort(state, name)
  if (known !== undefined && known.phase !== phase) return refuse("conflict", "phase", phase, known.phase, otherCohort)
  if (known !== undefined && known.isFullBatch !== isFullBatch)
    return refuse("conflict", "isFullBatch", isFullBatch, String(known.isFullBatch), otherCohort)
  if (name === null) {
    const open = state.cohorts.find((one) => !one.isNamed && one.phase === phase && one.status === "open")
    return Result.succeed({ cohort: open, name: `${ownPrefix}${phase}/${state.opened[phase] + 1}` })
  }
  if (known === undefined && closedIndex(archive, state, name) !== undefined) {
    const missing = requests.find(({ key }) => archivedLease(state, archive, { cohort: name }, key) === undefined)
    return missing === undefined || isFullBatch
      ? Result.succeed({ cohort: undefined, name: null })
      : refuse("closed", "key", missing.key, `a key of ${name}, which is closed`, otherCohort)
  }
  return Result.succeed({ cohort: known, name })
}

/** The unclosed cohort that holds a key. */
const cohortOf = (state: State, { cohort: name, phase }: LeaseCommand, key: string): Cohort | undefined =>
  name === null
    ? state.cohorts.find((one) => !one.isNamed && one.phase === phase && HashMap.has(one.leases, key))
    : cohort(state, name)

const archivedLease = (
  state: State,
  archive: Archive,
  { cohort: name }: Pick<LeaseCommand, "cohort">,
  key: string
): ArchivedLease | undefined => {
  for (const { branch, upTo } of ancestry(state)) {
    const found = name === null ? archive.key(branch, key) : archive.lease(leaseId(branch, name, key))
    if (found !== undefined && (found.isTrain ? found.index <= upTo : branch === state.branch)) return found
  }
  return undefined
}

const knownLease = (
  state: State,
  archive: Archive,
  command: LeaseCommand,
  key: string
): Pick<Lease, "n"> | undefined => {
  const open = cohortOf(state, command, key)
  const found = open === undefined ? undefined : Option.getOrUndefined(HashMap.get(open.leases, key))
  return (
    found ?? (open === undefined || command.cohort === null ? archivedLease(state, archive, command, key) : undefined)
  )
}

/** New leases, in a cohort that is opened if there is none. */
const grant = (
  strategies: Strategies,
  state: State,
  archive: Archive,
  command: LeaseCommand,
  fresh: ReadonlyArray<LeaseRequest>,
  found: Cohort | undefined,
  name: string
): Result.Result<ReadonlyArray<PopulationEvent>, Refused> => {
  const room = requireRoom(state, fresh)
  if (Result.isFailure(room)) return Result.fail(room.failure)
  const { openCohorts, unitsPerCohort } = state.limits
  const joining = Arr.groupBy(fresh, (request) => joinable(state, command, request)?.name ?? "")
  const { "": others = [], ...joined } = joining
  const drawn = others.map((request) => ({ ...request, ...carriedOf(state, archive, command, request) }))
  const events: Array<PopulationEvent> = Object.entries(joined).map(([cohort, requests]) => ({
    _tag: "Leased",
    cohort,
    leases: requests.flatMap((request) => {
      const held = joinable(state, command, request)
      const unit = held === undefined ? undefined : Option.getOrUndefined(HashMap.get(held.sticky, unitOf(request)))
      return unit === undefined ? [] : [given(state, cohort, request, unit)]
    })
  }))
  if (drawn.length === 0) return Result.succeed(events)
  if (found !== undefined && found.status !== "open")
    return refuse("closed", "cohort", name, "a cohort that is not sealed", "Name the next cohort")
  const [oldest] = state.cohorts
  if (found === undefined && oldest !== undefined && state.cohorts.length >= openCohorts)
    return refuse(
      "limit",
      "cohort",
      name,
      `at most ${openCohorts} cohorts that are not closed`,
      `Close ${oldest.name}, which those after it wait for: its trainer does, or the one that takes over from it. Trainers that run at the same time each need a population of their own`
    )
  const units = total(drawn.map(({ instructions }) => instructions))
  if ((found?.units ?? 0) + units > unitsPerCohort)
    return refuse("limit", "requests", units, `at most ${unitsPerCohort} units in a cohort`, otherCohort)
  const opening = found === undefined ? open(strategies, state, command, name) : null
  if (opening !== null) events.push(...endingEarlierRuns(state, opening), opening)
  const frozen = found ?? opening
  if (frozen === null) return Result.succeed(events)
  const leases = command.isFullBatch
    ? assignWhole(state, name, frozen, drawn)
    : drawOne(state, found?.name ?? name, frozen.shares, drawn)
  events.push({ _tag: "Leased", cohort: found?.name ?? name, leases })
  return Result.succeed(events)
}

/**
 * Closes what an earlier training run left open, such as one that was killed and is not resumed: cohorts are folded in order,
 * so nothing would be learned from another run.
 */
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

/** Leases that are not closed are held in memory, here and after a restart. */
const requireRoom = (
  { cohorts, limits }: State,
  requests: ReadonlyArray<Pick<LeaseRequest, "instructions" | "n">>
): Result.Result<void, Refused> => {
  const bounds = [
    [
      "leases",
      limits.openLeases,
      total(requests.map(({ instructions }) => instructions)),
      Arr.map(cohorts, ({ leases }) => HashMap.size(leases))
    ],
    [
      "samples",
      limits.openSamples,
      total(requests.map(({ instructions, n }) => instructions * n)),
      Arr.map(cohorts, ({ samples }) => samples)
    ]
  ] as const
  const over = bounds.find(([, limit, asked, held]) => total(held) + asked > limit)
  if (over === undefined) return Result.void
  const [what, limit, asked, held] = over
  return refuse(
    "limit",
    what,
    `${asked} in addition to ${total(held)} open ones`,
    `at most ${limit} ${what} in cohorts that are not closed`,
    "Report rewards, close cohorts, or set a shorter horizon"
  )
}

const total = (numbers: ReadonlyArray<number>): number => numbers.reduce((sum, one) => sum + one, 0)

const open = (
  strategies: Strategies,
  state: State,
  { cohort: named, isFullBatch, now, phase }: LeaseCommand,
  name: string
): EventOf<"CohortOpened"> => {
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
      phase === "train"
        ? shares(settings.sampler, learning, values)
        : [{ id: incumbentOf(learning).id, probability: 1 }],
    at: now
  }
}

interface Carried {
  readonly held?: Sticky
  readonly replaces?: InstructionId
}

/** What the unit of a request was given in a cohort that is closed, or that this instruction is not alive any more. */
const carriedOf = (
  state: State,
  archive: Archive,
  { cohort: name, phase }: LeaseCommand,
  request: LeaseRequest
): Carried => {
  if (request.sticky === null || name !== null || phase !== "train") return {}
  const known = archive.sticky(state.branch, unitOf(request))
  const held = known.find(({ instruction }) => isAlive(state.learning.population, instruction))
  if (held !== undefined) return { held: { ...Struct.pick(held, ["instruction", "probability"]), isCarried: true } }
  const [first] = known
  return first === undefined ? {} : { replaces: first.instruction }
}

/** The cohort in which the unit of a sticky request is known: its turns are of one outcome, also once it is sealed. */
const joinable = (
  { cohorts }: State,
  { cohort: name, isFullBatch, phase }: LeaseCommand,
  request: LeaseRequest
): Cohort | undefined =>
  request.sticky === null || isFullBatch
    ? undefined
    : cohorts.find(
        (one) =>
          one.phase === phase &&
          one.status !== "complete" &&
          (name === null ? !one.isNamed : one.name === name) &&
          HashMap.has(one.sticky, unitOf(request))
      )

const given = (
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

const drawOne = (
  state: State,
  cohort: string,
  shares: Cohort["shares"],
  requests: ReadonlyArray<LeaseRequest & Carried>
): ReadonlyArray<Given> =>
  requests.flatMap(({ held, replaces, ...request }) => {
    if (held !== undefined) return [given(state, cohort, request, held)]
    const draw = { seed: state.settings.randomSeed, path: ["lease", cohort, unitOf(request)], shares }
    if (request.instructions > 1)
      return onQuestion(
        state,
        cohort,
        request,
        Sampler.distinct({ ...draw, instructionsPerQuestion: request.instructions })
      )
    const { id, probability } = Choose.choose(draw)
    return [
      given(state, cohort, request, {
        instruction: id,
        probability,
        ...(replaces === undefined ? {} : { replaces })
      })
    ]
  })

/** Assigns all requests together: some questions to several instructions, and then others to none. */
const assignWhole = (
  state: State,
  cohort: string,
  { index, phase, shares }: Pick<Cohort, "index" | "phase" | "shares">,
  requests: ReadonlyArray<LeaseRequest>
): ReadonlyArray<Given> => {
  if (phase === "validation") return drawOne(state, cohort, shares, requests)
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

/** A question without an id is unknown in other cohorts. */
const questionOf = (cohort: string, { key, question, stratum }: LeaseRequest) => ({
  id: question ?? QuestionId.make(`${cohort}/${key}`),
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
    given(
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
