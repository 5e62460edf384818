/** The routes for agents and trainers: leases, rewards, the incumbent, rewinds. */
import { type Answer, content, History, type LeaseAnswer, State } from "@inspo/cohorts"
import { Invariant, Question } from "@inspo/domain"
import { Effect, Result, Struct } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { LeaseIds } from "../../live/internal/LeaseIds.ts"
import { timed } from "../../live/internal/Metrics.ts"
import { Populations, type Served } from "../../live/Populations.ts"
import * as View from "../../live/View.ts"
import type { LeaseDetails } from "../../store/Details.ts"
import * as Loading from "../../store/Loading.ts"
import { Api } from "../../wire/Api.ts"
import { Conflict, InvalidRequest } from "../../wire/Errors.ts"
import { ofFailure, ofJournal, type Problem, refusal } from "../../wire/internal/Refusals.ts"
import type {
  Close,
  CohortState,
  Lease,
  LeaseRequest,
  LeaseRequests,
  Leases,
  Reward,
  RewardResult,
  RewardResults,
  Rewards
} from "../../wire/Lease.ts"
import type { Incumbent, Rewind, Rewound } from "../../wire/Population.ts"
import { expected, on, submit } from "./Serving.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "leases",
  Effect.fnUntraced(function* (handlers) {
    const within = on(yield* Populations)
    return handlers.handleAll({
      lease: ({ params, payload }) => within(params.name, (served) => lease(served, payload)),
      reward: ({ params, payload }) => within(params.name, (served) => reward(served, payload)),
      incumbent: ({ params }) => within(params.name, incumbent),
      rewind: ({ params, payload }) => within(params.name, (served) => rewind(served, payload))
    })
  })
)

/** Leases instructions to the requests. */
export const lease = Effect.fnUntraced(function* (
  served: Served,
  asked: LeaseRequests
): Effect.fn.Return<Leases, Problem> {
  const { cohort = null, phase = "train", requests, fullBatch = false } = asked
  yield* validate(served, cohort, fullBatch)
  yield* Effect.annotateCurrentSpan({ requests: requests.length })
  const { leases } = yield* submit(
    served.live,
    "Leases",
    (now) => ({
      _tag: "Lease",
      now,
      cohort,
      phase,
      isFullBatch: fullBatch,
      requests: requests.map(({ instructions = 1, key, n = 1, question, sticky = null, stratum = unnamedStratum }) => ({
        key,
        n,
        instructions,
        stratum,
        sticky,
        question: question === undefined ? null : Question.QuestionId.make(question.id)
      }))
    }),
    { leases: requests.map((one) => detailsOf(asked, one)) }
  )
  yield* served.counters.leased(leases.length)
  const state = yield* served.live.state
  const isKnown = leases.every(({ instruction }) => content(state, instruction) !== null)
  const history = isKnown ? null : yield* Effect.mapError(Loading.history(served.journal), ofJournal)
  const given = leases.map((one) => leaseOf(served.ids, state, history, one))
  yield* Effect.annotateCurrentSpan({ "inspo.lease": given.length === 1 ? given[0]?.lease : given.map(idOf) })
  return {
    cohort: Invariant.at(leases, leases.length - 1, "lease").cohort,
    incumbent: State.incumbentOf(state).id,
    leases: given
  }
})

const idOf = ({ lease }: Lease): string => lease

/** What is stored with a lease, for reflection. */
const detailsOf = (
  { policyVersion }: Pick<LeaseRequests, "policyVersion">,
  { question }: Pick<LeaseRequest, "question">
): LeaseDetails => ({
  ...(question === undefined ? {} : { question: Struct.omit(question, ["id"]) }),
  ...(policyVersion === undefined ? {} : { policyVersion })
})

/** Trainers name their cohorts, `online` populations open them themselves. */
const validate = (
  { created: { settings }, name }: Served,
  cohort: string | null,
  fullBatch: boolean
): Effect.Effect<void, InvalidRequest> => {
  const refuse = (field: string, value: string, expected: string, remedy: string) =>
    Effect.fail(new InvalidRequest({ field, value, expected, remedy }))
  if (settings.profile === "trainer")
    return cohort === null
      ? refuse(
          "cohort",
          "absent",
          "the name of a cohort, such as train/12",
          `Name one: ${name} has the profile trainer`
        )
      : Effect.void
  if (cohort !== null)
    return refuse(
      "cohort",
      cohort,
      "no cohort",
      `Leave it out: ${name} is online, and opens cohorts itself. A population with profile: trainer takes names`
    )
  return fullBatch ? refuse("fullBatch", "true", "false", `Leave it out: ${name} is online`) : Effect.void
}

/** The stratum of work that names none. */
const unnamedStratum = "all"

/** The history holds the text of a removed instruction, for a repeated request. */
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

/** Reports rewards, and closes a cohort. */
export const reward = Effect.fnUntraced(function* (
  served: Served,
  { close, rewards }: Rewards
): Effect.fn.Return<RewardResults, Problem> {
  if (close !== undefined && served.created.settings.profile === "online")
    return yield* new Conflict({
      differences: [{ field: "close", current: null, given: close.cohort }],
      remedy: "Leave `close` out: the server closes the cohorts of an online population, by count and time",
      detail: `${served.name} is online: a client that chooses when a cohort ends could choose its result.`
    })
  yield* Effect.annotateCurrentSpan({ rewards: rewards.length })
  const results = rewards.length === 0 ? [] : yield* rewarded(served, rewards)
  yield* served.counters.rewarded(results.map(({ outcome }) => outcome))
  return { results, ...(close === undefined ? {} : { cohort: yield* closed(served, close) }) }
})

/** All at once; if the population refuses one of them, each by itself, so that the others count. */
const rewarded = Effect.fnUntraced(function* (
  { ids, live }: Served,
  rewards: ReadonlyArray<Reward>
): Effect.fn.Return<ReadonlyArray<RewardResult>, Problem> {
  const report = (some: ReadonlyArray<Reward>) =>
    live.submit(
      (now) => ({
        _tag: "Reward",
        now,
        rewards: some.map(({ abandoned, lease, metrics, sample = null, tokens, usd, value = null }) => ({
          // No lease has an empty id, so a foreign id is `unknown`.
          lease: ids.decode(lease) ?? "",
          sample,
          value: abandoned === true ? "abandoned" : value,
          metrics: {
            ...metrics,
            ...(tokens === undefined ? {} : { tokens }),
            ...(usd === undefined ? {} : { usd })
          }
        }))
      }),
      { rewards: some.map((one) => Struct.omit(one, ["lease", "sample", "value", "metrics"])) }
    )
  const all = yield* Effect.result(timed(report(rewards)))
  if (Result.isSuccess(all)) return outcomes(all.success)
  if (all.failure._tag === "JournalError") return yield* ofJournal(all.failure)
  const each = yield* Effect.forEach(rewards, (one) => Effect.result(report([one])), { concurrency: "unbounded" })
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
      differences: [{ field: "profile", current: "online", given: "trainer" }],
      remedy: "Retire an instruction that should not be used any more, or pin one that should be",
      detail: `${name} is online: what was learned from users cannot be rewound.`
    })
  return yield* Effect.gen(function* () {
    const { rewinds } = yield* live.state
    const { branch } = expected(yield* Effect.mapError(live.rewind(to, requestId), ofFailure), "Branch")
    return { branch, rewound: !rewinds.some((one) => one.requestId === requestId) }
  }).pipe((effect) => changing.withPermit(effect))
})
