/** The routes for agents and trainers: leases, rewards, the incumbent, rewinds. */
import { type Answer, content, History, type LeaseAnswer, type Refused, State } from "@inspo/cohorts"
import { Invariant, Question } from "@inspo/domain"
import { Array as Arr, Effect, Struct } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { LeaseIds } from "../../live/internal/LeaseIds.ts"
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
      lease: ({ params, payload }) => within(params.name, (served) => leaseInSpan(served, payload)),
      reward: ({ params, payload }) =>
        within(params.name, (served) =>
          Effect.andThen(Effect.annotateCurrentSpan({ rewards: payload.rewards.length }), reward(served, payload))
        ),
      incumbent: ({ params }) => within(params.name, incumbent),
      rewind: ({ params, payload }) => within(params.name, (served) => rewind(served, payload))
    })
  })
)

/** Leases instructions to the requests. */
export const lease = (served: Served, asked: LeaseRequests): Effect.Effect<Leases, Problem> => {
  const { cohort = null, phase = "train", requests, fullBatch = false } = asked
  const invalid = validate(served, cohort, fullBatch)
  if (invalid !== null) return Effect.fail(invalid)
  const done = submit(
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
    asked.policyVersion === undefined && requests.every(({ question }) => question === undefined)
      ? {}
      : { leases: requests.map((one) => detailsOf(asked, one)) }
  )
  return Effect.flatMap(done, ({ leases }) =>
    Effect.flatMap(served.live.state, (state) => {
      served.counters.leased(leases.length)
      return leases.every(({ instruction }) => content(state, instruction) !== null)
        ? Effect.succeed(shown(served, state, null, leases))
        : Effect.mapError(Loading.history(served.journal), ofJournal).pipe(
            Effect.map((history) => shown(served, state, history, leases))
          )
    })
  )
}

/** The same, and names the leases in the span of the request. */
export const leaseInSpan = (served: Served, asked: LeaseRequests): Effect.Effect<Leases, Problem> =>
  Effect.annotateCurrentSpan({ requests: asked.requests.length }).pipe(
    Effect.andThen(lease(served, asked)),
    Effect.tap(({ leases }) =>
      Effect.annotateCurrentSpan({ "inspo.lease": leases.length === 1 ? leases[0]?.lease : leases.map(idOf) })
    )
  )

const idOf = ({ lease }: Lease): string => lease

/** The history holds the text of a removed instruction, for a repeated request. */
const shown = (
  { ids }: Served,
  state: State.State,
  history: History.History | null,
  leases: ReadonlyArray<LeaseAnswer>
): Leases => ({
  cohort: Invariant.at(leases, leases.length - 1, "lease").cohort,
  incumbent: State.incumbentOf(state).id,
  leases: leases.map((one) => leaseOf(ids, state, history, one))
})

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
): InvalidRequest | null => {
  const refuse = (field: string, value: string, expected: string, remedy: string) =>
    new InvalidRequest({ field, value, expected, remedy })
  if (settings.profile === "trainer")
    return cohort === null
      ? refuse(
          "cohort",
          "absent",
          "the name of a cohort, such as train/12",
          `Name one: ${name} has the profile trainer`
        )
      : null
  if (cohort !== null)
    return refuse(
      "cohort",
      cohort,
      "no cohort",
      `Leave it out: ${name} is online, and opens cohorts itself. A population with profile: trainer takes names`
    )
  return fullBatch ? refuse("fullBatch", "true", "false", `Leave it out: ${name} is online`) : null
}

/** The stratum of work that names none. */
const unnamedStratum = "all"

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
export const reward = (served: Served, { close, rewards }: Rewards): Effect.Effect<RewardResults, Problem> => {
  if (close !== undefined && served.created.settings.profile === "online")
    return Effect.fail(
      new Conflict({
        differences: [{ field: "close", current: null, given: close.cohort }],
        remedy: "Leave `close` out: the server closes the cohorts of an online population, by count and time",
        detail: `${served.name} is online: a client that chooses when a cohort ends could choose its result.`
      })
    )
  const done = rewards.length === 0 ? Effect.succeed([]) : rewarded(served, rewards)
  return Effect.flatMap(done, (results) => {
    served.counters.rewarded(results)
    return close === undefined
      ? Effect.succeed({ results })
      : Effect.map(closed(served, close), (cohort) => ({ results, cohort }))
  })
}

/** All at once; if the population refuses one of them, each by itself, so that the others count. */
const rewarded = (
  { ids, live }: Served,
  rewards: ReadonlyArray<Reward>
): Effect.Effect<ReadonlyArray<RewardResult>, Problem> => {
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
      some.every(isBare) ? {} : { rewards: some.map((one) => Struct.omit(one, ofEvidence)) }
    )
  const refused = (failure: Refused): RewardResult => ({ outcome: "refused", refusal: refusal(failure) })
  return Effect.matchEffect(report(rewards), {
    onSuccess: (answer) => Effect.succeed(outcomes(answer)),
    onFailure: (failure): Effect.Effect<ReadonlyArray<RewardResult>, Problem> => {
      if (failure._tag === "JournalError") return Effect.fail(ofJournal(failure))
      const alone = (one: Reward) =>
        Effect.map(report([one]), (answer) => Invariant.at(outcomes(answer), 0, "outcome")).pipe(
          Effect.catchTags({
            Refused: (failure) => Effect.succeed(refused(failure)),
            JournalError: (failure) => Effect.fail(ofJournal(failure))
          })
        )
      // Of one sample the first counts, so those of a lease keep their order.
      const ofLeases = Object.values(Arr.groupBy([...rewards.entries()], ([, { lease }]) => lease))
      const inOrder = Effect.forEach(([place, one]: readonly [number, Reward]) =>
        Effect.map(alone(one), (result) => [place, result] as const)
      )
      return Effect.map(Effect.forEach(ofLeases, inOrder, { concurrency: "unbounded" }), (results) =>
        results
          .flat()
          .toSorted(([one], [other]) => one - other)
          .map(([, result]) => result)
      )
    }
  })
}

/** What of a reward is no detail. */
const ofEvidence = ["lease", "sample", "value", "metrics"] as const

const isBare = (one: Reward): boolean => {
  for (const field in one) if (!ofEvidence.some((own) => own === field)) return false
  return true
}

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
