/** The routes for admins. */
import { Summary } from "@inspo/cohorts"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Populations, type Served } from "../../live/Populations.ts"
import * as View from "../../live/View.ts"
import * as Loading from "../../store/Loading.ts"
import { Api } from "../../wire/Api.ts"
import { Conflict, NotFound } from "../../wire/Errors.ts"
import type { Events } from "../../wire/Event.ts"
import { ofFault, ofJournal, type Problem, type Unavailable } from "../../wire/internal/Refusals.ts"
import * as Limits from "../../wire/Limits.ts"
import type { Population } from "../../wire/Population.ts"
import * as MemberHandlers from "./MemberHandlers.ts"
import * as Metrics from "./Metrics.ts"
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
      member: ({ params, payload }) => within(params.name, (served) => MemberHandlers.act(served, payload)),
      forget: ({ params }) => within(params.name, (served) => forget(served, params.lease)),
      evolve: ({ params }) => within(params.name, evolve),
      freeze: ({ params }) => within(params.name, setFrozen(true)),
      resume: ({ params }) => within(params.name, setFrozen(false))
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

const setFrozen =
  (isFrozen: boolean) =>
  (served: Served): Effect.Effect<Population, Unavailable> =>
    served.live
      .submit((now) => ({ _tag: "Freeze", now, isFrozen }))
      .pipe(Effect.catch(ofFault), Effect.andThen(view(served)))
