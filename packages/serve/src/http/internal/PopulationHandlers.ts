/** What an admin asks. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../wire/Api.ts"
import { Conflict, NotFound } from "../../wire/Errors.ts"
import type { Events } from "../../wire/Event.ts"
import * as Limits from "../../wire/Limits.ts"
import type { Population } from "../../wire/Population.ts"
import { Populations, type Served } from "../../live/Populations.ts"
import { submit } from "./LeaseHandlers.ts"
import * as Loading from "../../store/Loading.ts"
import * as Members from "./Members.ts"
import * as Metrics from "./Metrics.ts"
import { ofFault, ofJournal, type Problem, type Unavailable } from "../../wire/internal/Refusals.ts"
import * as View from "../../live/View.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "populations",
  Effect.fnUntraced(function* (handlers) {
    const populations = yield* Populations
    const on = <A, E>(name: string, use: (served: Served) => Effect.Effect<A, E>) =>
      Effect.flatMap(populations.get(name), use)
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
      get: ({ params }) => on(params.name, view),
      change: ({ params, payload }) => Effect.flatMap(populations.change(params.name, payload), view),
      remove: ({ params }) => Effect.andThen(populations.remove(params.name), Metrics.forget(params)),
      events: ({ params, query }) => on(params.name, (served) => events(served, query)),
      member: ({ params, payload }) => on(params.name, (served) => Members.act(served, payload)),
      forget: ({ params }) => on(params.name, (served) => forget(served, params.lease)),
      evolve: ({ params }) => on(params.name, evolve),
      freeze: ({ params }) => on(params.name, frozen(true)),
      resume: ({ params }) => on(params.name, frozen(false))
    })
  })
)

const view = Effect.fnUntraced(function* ({ evolving, live, name }: Served): Effect.fn.Return<Population, Unavailable> {
  const beside = {
    name,
    spentUsd: yield* Effect.mapError(evolving.spentUsd, ofJournal),
    capUsd: evolving.capUsd,
    degraded: yield* evolving.degraded,
    skipped: yield* evolving.skipped
  }
  return View.population(beside, yield* live.state)
})

/** What is no lease of the population has no texts. */
const forget = Effect.fn("Server.forget")(function* (
  { ids, live, name }: Served,
  lease: string
): Effect.fn.Return<HttpServerResponse.HttpServerResponse, NotFound | Unavailable> {
  const own = ids.decode(lease)
  if (own === null)
    return yield* new NotFound({
      what: "lease",
      name: lease,
      remedy: "Send the id that the lease came with",
      detail: `${name} gave out no such lease.`
    })
  return HttpServerResponse.empty({ status: (yield* Effect.mapError(live.forget([own]), ofJournal)) ? 204 : 202 })
})

const events = Effect.fn("Server.events")(function* (
  { journal }: Served,
  { after = -1, limit = Limits.eventsPerAnswer }: { readonly after?: number; readonly limit?: number }
): Effect.fn.Return<Events, Unavailable> {
  const first = Math.max(0, after + 1)
  const some = yield* Effect.mapError(Loading.eventsFrom(journal, first, limit), ofJournal)
  return {
    events: some.map(({ at, event: { _tag, ...data } }, index) => ({
      sequence: first + index,
      at: View.isoTime(at),
      type: _tag,
      data
    })),
    last: first + some.length - 1
  }
})

/** An evolution that goes on is the one that was asked for. */
const evolve = Effect.fnUntraced(function* (served: Served): Effect.fn.Return<Population, Problem> {
  const { live, name } = served
  yield* Effect.gen(function* () {
    const { isFrozen, learning } = yield* live.state
    if (isFrozen)
      return yield* new Conflict({
        differences: [{ field: "state", stands: "frozen", given: "learning" }],
        remedy: `Ask POST /v1/populations/${name}/resume before`,
        detail: `${name} is frozen, so nothing evolves.`
      })
    if (learning.evolution === null) yield* submit(live, "Done", (now) => ({ _tag: "Evolve", now }))
  }).pipe((effect) => served.changing.withPermit(effect))
  return yield* view(served)
})

const frozen =
  (isFrozen: boolean) =>
  (served: Served): Effect.Effect<Population, Unavailable> =>
    served.live
      .submit((now) => ({ _tag: "Freeze", now, isFrozen }))
      .pipe(Effect.catch(ofFault), Effect.andThen(view(served)))
