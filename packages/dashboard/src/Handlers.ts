import { Effect, Schedule, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api, type Change, InvalidAnnotation } from "./Api.ts"
import { mostCompared } from "./Curves.ts"
import { comparison } from "./projection/Comparison.ts"
import { cost } from "./projection/Cost.ts"
import { lineage } from "./projection/Lineage.ts"
import { overview } from "./projection/Overview.ts"
import { population } from "./projection/Population.ts"
import { stepChange } from "./projection/StepChange.ts"
import { Runs, unreadable } from "./Runs.ts"
import { series } from "./SeriesRequest.ts"
import { Searches } from "./Searches.ts"
import { Trajectories } from "./Trajectories.ts"
import { problemOf } from "./view/Annotation.ts"

/** Implements the {@link Api} with the runs that are followed. */
export const layer = HttpApiBuilder.group(
  Api,
  "runs",
  Effect.fn(function* (handlers) {
    const runs = yield* Runs
    const searches = yield* Searches
    const trajectories = yield* Trajectories
    return handlers.handleAll({
      runs: () => runs.list,
      settings: () => runs.settings,
      overview: Effect.fnUntraced(function* ({ params }) {
        const { annotation, record, source, view } = yield* runs.read(params.run)
        return { ...overview(view, record, yield* source.notes), annotation }
      }),
      annotate: Effect.fnUntraced(function* ({ params, payload }) {
        const problem = problemOf(payload)
        if (problem !== null) return yield* new InvalidAnnotation({ problem })
        return yield* runs.annotate(params.run, payload)
      }),
      stepChange: ({ params }) =>
        Effect.map(runs.read(params.run), ({ record }) => ({ change: stepChange(record, params.step) })),
      population: ({ params }) => Effect.map(runs.read(params.run), ({ record }) => population(record)),
      lineage: ({ params }) => Effect.map(runs.read(params.run), ({ record }) => lineage(record)),
      cost: Effect.fnUntraced(function* ({ params }) {
        const run = yield* runs.read(params.run)
        const ledger = yield* Effect.scoped(
          Effect.flatMap(runs.journal(run), (journal) => Effect.mapError(journal.ledger, unreadable))
        )
        return cost(run.record, ledger, yield* run.source.notes)
      }),
      trajectories: ({ params, query }) => trajectories.page(params.run, query),
      trajectory: ({ params, query }) => trajectories.one(params.run, query.id),
      compare: Effect.fnUntraced(function* ({ query }) {
        const ids = query.runs.split(",").filter((id) => id !== "")
        const found = yield* Effect.forEach(ids.slice(0, mostCompared), runs.read)
        return comparison(
          yield* Effect.forEach(found, ({ record, source, view }) =>
            Effect.map(source.notes, (notes) => ({ run: view, record, notes }))
          )
        )
      }),
      series: ({ query }) => series(runs, query),
      searches: () => searches.list,
      search: ({ params }) => searches.read(params.search),
      changes: () => Effect.succeed(Stream.merge(runs.changes, Stream.merge(searches.changes, beats)))
    })
  })
)

/** Opens the stream at once and keeps idle connections open; without beats the page knows that the server is gone. */
const beats: Stream.Stream<Change> = Stream.make<[Change]>({ _tag: "Beat" }).pipe(
  Stream.concat(Stream.fromSchedule(Schedule.spaced("15 seconds")).pipe(Stream.map((): Change => ({ _tag: "Beat" }))))
)
