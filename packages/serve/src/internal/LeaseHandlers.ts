/** What agents and trainers ask: leases, rewards, the incumbent, rewinding. */
import { type Answer, content, History, type LeaseAnswer, Learning, type State } from "@inspo/cohorts"
import * as Invariant from "@inspo/domain/Invariant"
import { QuestionId } from "@inspo/domain/Question"
import { Effect, Result, Struct } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../Api.ts"
import { Conflict, InvalidRequest } from "../Errors.ts"
import type { Lease, LeaseRequest, LeaseRequests, Leases } from "../Lease.ts"
import type { LivePopulation } from "../LivePopulation.ts"
import { Populations, type Served } from "../Populations.ts"
import type { Incumbent, Rewind, Rewound } from "../Population.ts"
import type { Close, CohortState, Reward, RewardResult, RewardResults, Rewards } from "../Reward.ts"
import type * as Told from "../Told.ts"
import type { LeaseIds } from "./LeaseIds.ts"
import * as Loading from "./Loading.ts"
import * as Metrics from "./Metrics.ts"
import { ofFailure, ofJournal, type Problem, refusal } from "./Refusals.ts"
import * as View from "./View.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "leases",
  Effect.fnUntraced(function* (handlers) {
    const populations = yield* Populations
    return handlers.handleAll({
      lease: ({ params, payload }) => Effect.flatMap(populations.get(params.name), (served) => lease(served, payload)),
      reward: ({ params, payload }) =>
        Effect.flatMap(populations.get(params.name), (served) => reward(served, payload)),
      incumbent: ({ params }) => Effect.flatMap(populations.get(params.name), incumbent),
      rewind: ({ params, payload }) => Effect.flatMap(populations.get(params.name), (served) => rewind(served, payload))
    })
  })
)

const lease = Effect.fnUntraced(function* (served: Served, asked: LeaseRequests): Effect.fn.Return<Leases, Problem> {
  const { cohort = null, phase = "train", requests, fullBatch = false } = asked
  yield* fitting(served, cohort, fullBatch)
  const { leases } = yield* submit(
    served.live,
    "Leases",
    (now) => ({
      _tag: "Lease",
      now,
      cohort,
      phase,
      isFullBatch: fullBatch,
      requests: requests.map(({ key, n = 1, question, sticky = null, stratum = unnamedStratum }) => ({
        key,
        n,
        stratum,
        sticky,
        question: question === undefined ? null : QuestionId.make(question.id)
      }))
    }),
    { leases: requests.map((one) => toldOfLease(asked, one)) }
  )
  yield* served.counters.leased(leases.length)
  const state = yield* served.live.state
  const isKnown = leases.every(({ instruction }) => content(state, instruction) !== null)
  const history = isKnown ? null : yield* Effect.mapError(Loading.history(served.journal), ofJournal)
  const given = leases.map((one) => leaseOf(served.ids, state, history, one))
  const byKey = new Map(given.map((one) => [one.key, one]))
  const own = requests.flatMap(({ key }) => byKey.get(key) ?? [])
  const keys = new Set(requests.map(({ key }) => key))
  const trials = given.filter(({ key }) => !keys.has(key))
  return {
    cohort: Invariant.at(leases, leases.length - 1, "lease").cohort,
    incumbent: Learning.incumbentOf(state.learning).id,
    leases: own,
    ...(trials.length === 0 ? {} : { trials })
  }
})

/** What goes with a lease, for reflection. */
const toldOfLease = (
  { policyVersion }: Pick<LeaseRequests, "policyVersion">,
  { question }: Pick<LeaseRequest, "question">
): Told.OfLease => ({
  ...(question === undefined ? {} : { question: Struct.omit(question, ["id"]) }),
  ...(policyVersion === undefined ? {} : { policyVersion })
})

/** Trainers name their cohorts, `online` populations do it themselves. */
const fitting = (
  { created: { settings }, name }: Served,
  cohort: string | null,
  fullBatch: boolean
): Effect.Effect<void, InvalidRequest> => {
  const refuse = (field: string, value: string, expected: string, remedy: string) =>
    Effect.fail(new InvalidRequest({ field, value, expected, remedy }))
  if (settings.profile === "trainer")
    return cohort === null
      ? refuse("cohort", "absent", "the name of a cohort, such as train/12", `Name one: ${name} is a trainer's`)
      : Effect.void
  if (cohort !== null)
    return refuse(
      "cohort",
      cohort,
      "no cohort",
      `Leave it out: ${name} is online, and opens cohorts itself. A trainer's population has profile: trainer`
    )
  return fullBatch ? refuse("fullBatch", "true", "false", `Leave it out: ${name} is online`) : Effect.void
}

/** The stratum of work that names none. */
const unnamedStratum = "all"

/** The history is asked for what an instruction said that has left, for a lease that is asked for again. */
const leaseOf = (
  ids: LeaseIds,
  state: State.State,
  history: History.History | null,
  { closesAt, instruction, key, lease, n, probability, replaces }: LeaseAnswer
): Lease => {
  const past = history === null ? undefined : History.find(history, Number.parseInt(lease, 10), instruction)
  const text = Invariant.present(content(state, instruction) ?? past?.content, `the text of ${instruction}`)
  return {
    lease: ids.encode(lease),
    key,
    n,
    instruction: View.instruction(instruction, text),
    ...(replaces === null ? {} : { replaces }),
    probability,
    closesAt: View.time(closesAt)
  }
}

const reward = Effect.fnUntraced(function* (
  served: Served,
  { close, rewards }: Rewards
): Effect.fn.Return<RewardResults, Problem> {
  if (close !== undefined && served.created.settings.profile === "online")
    return yield* new Conflict({
      differences: [{ field: "close", stands: null, given: close.cohort }],
      remedy: "Leave `close` out: the server closes the cohorts of an online population, by count and time",
      detail: `${served.name} is online: whoever chose when a cohort ends would choose what it says.`
    })
  const results = rewards.length === 0 ? [] : yield* rewarded(served, rewards)
  yield* served.counters.rewarded(results.map(({ outcome }) => outcome))
  return { results, ...(close === undefined ? {} : { cohort: yield* closed(served, close) }) }
})

/** All at once; where the population cannot take one of them, each by itself, so that the others count. */
const rewarded = Effect.fnUntraced(function* (
  { ids, live }: Served,
  rewards: ReadonlyArray<Reward>
): Effect.fn.Return<ReadonlyArray<RewardResult>, Problem> {
  const tell = (some: ReadonlyArray<Reward>) =>
    live.submit(
      (now) => ({
        _tag: "Reward",
        now,
        rewards: some.map(({ abandoned, lease, sample = null, value = null }) => ({
          // What is no lease of this population is unknown to it.
          lease: ids.decode(lease) ?? "",
          sample,
          value: abandoned === true ? "abandoned" : value
        }))
      }),
      { rewards: some.map((one) => Struct.omit(one, ["lease", "sample", "value"])) }
    )
  const told = yield* Effect.result(Metrics.timed(tell(rewards)))
  if (Result.isSuccess(told)) return outcomes(told.success)
  if (told.failure._tag === "JournalError") return yield* ofJournal(told.failure)
  const each = yield* Effect.forEach(rewards, (one) => Effect.result(tell([one])), { concurrency: "unbounded" })
  return yield* Effect.forEach(each, (one): Effect.Effect<RewardResult, Problem> => {
    if (Result.isSuccess(one)) return Effect.succeed(Invariant.at(outcomes(one.success), 0, "outcome"))
    return one.failure._tag === "JournalError"
      ? Effect.fail(ofJournal(one.failure))
      : Effect.succeed({ outcome: "refused", refusal: refusal(one.failure) })
  })
})

const outcomes = (answer: Answer): ReadonlyArray<RewardResult> =>
  expected(answer, "Rewards").outcomes.map((outcome) => ({ outcome }))

const closed = Effect.fnUntraced(function* (
  { live }: Served,
  { cohort, groups }: Close
): Effect.fn.Return<CohortState, Problem> {
  const before = View.cohortNamed(yield* live.state, cohort)
  yield* submit(live, "Done", (now) => ({ _tag: "Close", now, cohort, groups: groups ?? null }))
  const after = View.cohortNamed(yield* live.state, cohort)
  return (
    after ?? {
      cohort,
      state: "closed",
      leases: before?.leases ?? null,
      reported: before?.reported ?? null,
      closesAt: null
    }
  )
})

const incumbent = ({ live }: Served): Effect.Effect<Incumbent> => Effect.map(live.state, View.incumbent)

const rewind = Effect.fn("Server.rewind")(function* (
  { changing, created, live, name }: Served,
  { requestId, to }: Rewind
): Effect.fn.Return<Rewound, Problem> {
  if (created.settings.profile === "online")
    return yield* new Conflict({
      differences: [{ field: "profile", stands: "online", given: "trainer" }],
      remedy: "Retire what should be used no more, or pin what should be",
      detail: `${name} is online: what was learned from users is not taken back.`
    })
  return yield* Effect.gen(function* () {
    const { rewinds } = yield* live.state
    const { branch } = expected(yield* Effect.mapError(live.rewind(to, requestId), ofFailure), "Branch")
    return { branch, rewound: !rewinds.some((one) => one.requestId === requestId) }
  }).pipe((effect) => changing.withPermit(effect))
})

/** Does a command, and gives its answer. */
export const submit = <Tag extends Answer["_tag"]>(
  live: LivePopulation,
  tag: Tag,
  ...command: Parameters<LivePopulation["submit"]>
): Effect.Effect<Extract<Answer, { readonly _tag: Tag }>, Problem> =>
  Metrics.timed(live.submit(...command)).pipe(
    Effect.mapError(ofFailure),
    Effect.map((answer) => expected(answer, tag))
  )

const expected = <Tag extends Answer["_tag"]>(answer: Answer, tag: Tag): Extract<Answer, { readonly _tag: Tag }> => {
  const is = (one: Answer): one is Extract<Answer, { readonly _tag: Tag }> => one._tag === tag
  if (!is(answer)) throw new Invariant.InvariantBroken({ missing: `an answer of ${tag}` })
  return answer
}
