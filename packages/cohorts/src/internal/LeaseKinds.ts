import { Invariant, Question } from "@inspo/domain"
import { isAlive } from "@inspo/evolution"
import { Choose, Sampler } from "@inspo/sampler"
import { Array as Arr, HashMap, Option, Struct } from "effect"
import type { Archive } from "../Archive.ts"
import type { LeaseCommand, LeaseRequest } from "../Command.ts"
import type { Given } from "../Event.ts"
import { armKey, type Cohort, leaseId, type Share, type State, type Sticky, unitOf } from "../State.ts"

/** The cohort in which the unit of a sticky request is known: its turns are of one outcome, also once it is sealed. */
export const joinable = (
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

/** The lease of a sticky request in the cohort that knows its unit; none if it does not. */
export const joined = (state: State, { name, sticky }: Cohort, request: LeaseRequest): ReadonlyArray<Given> =>
  Option.match(HashMap.get(sticky, unitOf(request)), {
    onNone: () => [],
    onSome: (held) => [lease(state, name, request, held)]
  })

/**
 * The leases of a request alone: what its unit was given in a closed cohort, or a draw from its own stream. A draw replaces what the
 * unit was given if that instruction is not alive any more.
 */
export const single = (
  state: State,
  archive: Archive,
  { cohort, command, shares }: Drawing,
  request: LeaseRequest
): ReadonlyArray<Given> => {
  const known = carries(command, request) ? archive.sticky(state.branch, unitOf(request)) : []
  const carried = known.find(({ instruction }) => isAlive(state.learning.population, instruction))
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
export const whole = (
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
