import { Invariant } from "@inspo/domain"
import { HashMap, Option, Result } from "effect"
import { type Archive, type ArchivedLease, closedIndex } from "../Archive.ts"
import { type LeaseAnswer, type LeaseCommand, type LeaseRequest, refuse, type Refused } from "../Command.ts"
import type { PopulationEvent } from "../Event.ts"
import { sealsAt, settlesAt } from "../Horizon.ts"
import { ancestry, armKey, baseKey, cohort, type Cohort, type Lease, leaseId, type State } from "../State.ts"
import type { Strategies } from "../Strategies.ts"
import { grant } from "./Granting.ts"

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
  return grant({ strategies, state, archive, command }, { cohort: found, name: name ?? "" }, fresh)
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
    return [archived, ...arms.flatMap((arm) => archivedLease(state, archive, command, arm) ?? [])].map(ofArchive)
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
    .map(ofArchive)
}

/** A lease of the archive, without a time: its cohort is closed, or is about to be. */
const ofArchive = (one: ArchivedLease): LeaseAnswer => leaseAnswer(one, one.cohort, null)

const answer = (state: State, cohort: Cohort, one: Lease): LeaseAnswer =>
  leaseAnswer(one, cohort.name, settlesAt(state, cohort.sealedAt ?? sealsAt(state, cohort)))

const leaseAnswer = (
  { instruction, key, lease, n, probability, question, replaces }: Lease | ArchivedLease,
  cohort: string,
  closesAt: number | null
): LeaseAnswer => ({ lease, key, n, instruction, probability, question, cohort, replaces: replaces ?? null, closesAt })

/** The names that the population gives to cohorts of its own. */
const ownPrefix = "auto/"

const otherCohort = "Name another cohort"

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

/** What a request must be like, whatever the population has. */
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
  const isName = (text: string) => text !== "" && text.length <= Math.min(textLength, 1000) && text.isWellFormed()
  for (const { instructions, key, n, question, sticky, stratum } of requests) {
    const names = [
      ["key", key],
      ["stratum", stratum],
      ["sticky", sticky ?? "-"],
      ["question", question ?? "-"]
    ] as const
    const wrong = names.find(([, text]) => !isName(text))
    if (wrong !== undefined)
      return bad(
        wrong[0],
        wrong[1].slice(0, 80),
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
