/** The routes for admins: populations and their instructions. A repeated action on an instruction changes nothing. */
import { History, type State, Summary } from "@inspo/cohorts"
import { Instruction } from "@inspo/domain"
import { Effect, Equal } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Populations, type Served } from "../../live/Populations.ts"
import * as View from "../../live/View.ts"
import * as Loading from "../../store/Loading.ts"
import { Api } from "../../wire/Api.ts"
import { Conflict, NotFound } from "../../wire/Errors.ts"
import { ofFault, ofJournal, type Problem, type Unavailable } from "../../wire/internal/Refusals.ts"
import * as Limits from "../../wire/Limits.ts"
import type { Member, MemberAction } from "../../wire/Member.ts"
import type { Events, Population } from "../../wire/Population.ts"
import * as Metrics from "../../live/internal/Metrics.ts"
import { on, submit } from "./Serving.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "populations",
  Effect.fnUntraced(function* (handlers) {
    const populations = yield* Populations
    const within = on(populations)
    return handlers.handleAll({
      list: () =>
        Effect.flatMap(
          populations.list,
          Effect.forEach(({ evolving, live, name }) =>
            Effect.zipWith(live.state, evolving.degraded, (state, degraded) =>
              View.summary({ name, isDegraded: degraded.length > 0 }, state)
            )
          )
        ),
      create: Effect.fnUntraced(function* ({ params, payload }) {
        const { isNew, served } = yield* populations.create(params.name, payload)
        const population = yield* view(served)
        return isNew ? { outcome: "created" as const, population } : { outcome: "same" as const, population }
      }),
      get: ({ params }) => within(params.name, view),
      change: ({ params, payload }) => Effect.flatMap(populations.change(params.name, payload), view),
      remove: ({ params }) => Effect.andThen(populations.remove(params.name), Metrics.forget(params)),
      events: ({ params, query }) => within(params.name, (served) => events(served, query)),
      member: ({ params, payload }) => within(params.name, (served) => act(served, payload)),
      forget: ({ params }) => within(params.name, (served) => forget(served, params.lease)),
      evolve: ({ params }) => within(params.name, evolve),
      freeze: ({ params }) => within(params.name, setFrozen({ isFrozen: true })),
      useSeed: ({ params }) => within(params.name, useSeed),
      useSeeds: () =>
        Effect.flatMap(populations.list, (all) =>
          Effect.forEach(
            all.filter(({ created }) => created.settings.profile === "online"),
            setFrozen(toSeed)
          )
        ),
      resume: ({ params }) => within(params.name, setFrozen({ isFrozen: false }))
    })
  })
)

const view = Effect.fnUntraced(function* ({ evolving, live, name }: Served): Effect.fn.Return<Population, Unavailable> {
  const status = {
    name,
    spentUsd: yield* Effect.mapError(evolving.spentUsd, ofJournal),
    capUsd: evolving.capUsd,
    degraded: yield* evolving.degraded,
    skipped: yield* evolving.skipped
  }
  return View.population(live.decides, status, yield* live.state)
})

/** An id of another population, or of none, has no texts. */
const forget = Effect.fn("Server.forget")(function* (
  { ids, live, name }: Served,
  lease: string
): Effect.fn.Return<HttpServerResponse.HttpServerResponse, NotFound | Unavailable> {
  const own = ids.decode(lease)
  if (own === null)
    return yield* new NotFound({
      what: "lease",
      name: lease,
      remedy: "Send the id of the lease as the server returned it",
      detail: `${name} has no such lease.`
    })
  return HttpServerResponse.empty({ status: (yield* Effect.mapError(live.forget([own]), ofJournal)) ? 204 : 202 })
})

const events = Effect.fn("Server.events")(function* (
  { journal }: Served,
  {
    after = -1,
    limit = Limits.eventsPerAnswer,
    view = "all"
  }: { readonly after?: number; readonly limit?: number; readonly view?: "all" | "summary" }
): Effect.fn.Return<Events, Unavailable> {
  const first = Math.max(0, after + 1)
  const some = yield* Effect.mapError(Loading.eventsFrom(journal, first, limit), ofJournal)
  return {
    events: some.flatMap(({ at, event }, index) => {
      const shown = view === "all" ? event : Summary.summarize(event)
      if (shown === null) return []
      const { _tag, ...data } = shown
      return [{ sequence: first + index, at: View.isoTime(at), type: _tag, data }]
    }),
    last: first + some.length - 1
  }
})

/** If an evolution is in progress, it is the requested one. */
const evolve = Effect.fnUntraced(function* (served: Served): Effect.fn.Return<Population, Problem> {
  const { live, name } = served
  yield* Effect.gen(function* () {
    const { isFrozen, learning } = yield* live.state
    if (isFrozen)
      return yield* new Conflict({
        differences: [{ field: "state", current: "frozen", given: "learning" }],
        remedy: `Send POST /v1/populations/${name}/resume first`,
        detail: `${name} is frozen, so it does not evolve.`
      })
    if (learning.evolution === null) yield* submit(live, "Done", (now) => ({ _tag: "Evolve", now }))
  }).pipe((effect) => served.changing.withPermit(effect))
  return yield* view(served)
})

const toSeed = { isFrozen: true, usesSeed: true } as const

const setFrozen =
  (to: { readonly isFrozen: boolean; readonly usesSeed?: true }) =>
  (served: Served): Effect.Effect<Population, Unavailable> =>
    served.live
      .submit((now) => ({ _tag: "Freeze", now, ...to }))
      .pipe(Effect.catch(ofFault), Effect.andThen(view(served)))

const useSeed = (served: Served): Effect.Effect<Population, Problem> =>
  Effect.andThen(
    submit(served.live, "Done", (now) => ({ _tag: "Freeze", now, ...toSeed })),
    view(served)
  )

/** Performs the action, and returns the instruction as it is then. */
const act = Effect.fn("Server.member")(
  function* (served: Served, action: MemberAction): Effect.fn.Return<Member, Problem> {
    yield* Effect.annotateCurrentSpan({ action: action.action })
    switch (action.action) {
      case "add":
        return yield* add(served, action)
      case "pin":
        return yield* pin(served, action.id === null ? null : Instruction.InstructionId.make(action.id))
      case "retire":
        return yield* retire(served, Instruction.InstructionId.make(action.id))
      case "approve":
      case "reject":
        return yield* review(served, Instruction.InstructionId.make(action.id), action.action === "approve")
    }
  },
  (effect, { changing }) => changing.withPermit(effect)
)

/** If a member has the text already, it is returned. */
const add = Effect.fnUntraced(function* (
  { live }: Served,
  { parent, wording }: Extract<MemberAction, { readonly action: "add" }>
): Effect.fn.Return<Member, Problem> {
  const same = (state: State.State) => View.allOf(live.decides, state).find((one) => Equal.equals(one.wording, wording))
  const known = same(yield* live.state)
  if (known !== undefined) return known
  yield* submit(live, "Done", (now) => ({
    _tag: "Add",
    now,
    content: wording,
    parent: parent === undefined ? null : Instruction.InstructionId.make(parent)
  }))
  return yield* present(same(yield* live.state), "the new one")
})

const pin = Effect.fnUntraced(function* (
  { live }: Served,
  id: Instruction.InstructionId | null
): Effect.fn.Return<Member, Problem> {
  const pinned = View.allOf(live.decides, yield* live.state).find((one) => one.pinned)
  const target = id ?? pinned?.id
  if (target === undefined) return yield* present(incumbentOf(live, yield* live.state), "the incumbent")
  if (target !== pinned?.id || id === null)
    yield* submit(live, "Done", (now) => ({
      _tag: "Pin",
      now,
      id: Instruction.InstructionId.make(target),
      isPinned: id !== null
    }))
  const state = yield* live.state
  return yield* present(id === null ? incumbentOf(live, state) : View.memberOf(live.decides, state, id), target)
})

const incumbentOf = ({ decides }: Served["live"], state: State.State) =>
  View.memberOf(decides, state, View.incumbent(state).instruction.id)

const retire = Effect.fnUntraced(function* (
  served: Served,
  id: Instruction.InstructionId
): Effect.fn.Return<Member, Problem> {
  const { live } = served
  const before = View.memberOf(live.decides, yield* live.state, id)
  if (before === undefined) {
    const known = yield* formerMember(served, id)
    const fate = History.fate(known)
    return fate === "retired" ? View.nonMember(known, fate) : yield* notFound(id, `${id} is ${fate}, not a member.`)
  }
  yield* submit(live, "Done", (now) => ({ _tag: "Retire", now, id }))
  return { ...before, standing: "retired", pinned: false, probability: 0, chance: 0, toSeed: null }
})

const review = Effect.fnUntraced(function* (
  served: Served,
  id: Instruction.InstructionId,
  isApproved: boolean
): Effect.fn.Return<Member, Problem> {
  const { live } = served
  const state = yield* live.state
  const candidate = View.snapshotOf(live.decides, state).candidates.find((one) => one.id === id)
  const decided = isApproved ? "approved" : "rejected"
  if (candidate?.stage === "waiting") {
    const { place } = candidate
    yield* submit(live, "Done", (now) => ({ _tag: "Review", now, place, isApproved }))
    return View.candidate(state, { ...candidate, stage: decided })
  }
  const known = yield* formerMember(served, id)
  const fate = History.fate(known)
  if (fate === decided) return View.nonMember(known, isApproved ? "approved" : "rejected")
  return yield* new Conflict({
    differences: [{ field: "standing", current: fate, given: decided }],
    remedy: "Retire the member if it should be removed, or add its text again if it should be tried",
    detail: `${id} is ${fate}: it was reviewed before.`
  })
})

const formerMember = Effect.fnUntraced(function* (
  { journal, name }: Served,
  id: Instruction.InstructionId
): Effect.fn.Return<History.Known, Problem> {
  const { known } = yield* Effect.mapError(Loading.history(journal), ofJournal)
  return known.get(id) ?? (yield* notFound(id, `${name} has no ${id}.`))
})

const present = (member: Member | undefined, name: string): Effect.Effect<Member, NotFound> =>
  member === undefined ? Effect.fail(notFound(name, `${name} is not a member any more.`)) : Effect.succeed(member)

const notFound = (name: string, detail: string) =>
  new NotFound({ what: "instruction", name, remedy: "Look up the members of the population", detail })
