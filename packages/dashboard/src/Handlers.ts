import { Effect, Schedule, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api, type Change } from "./Api.ts"
import { mostCompared } from "./Curves.ts"
import { comparison } from "./projection/Comparison.ts"
import { cost } from "./projection/Cost.ts"
import { lineage } from "./projection/Lineage.ts"
import { overview } from "./projection/Overview.ts"
import { population } from "./projection/Population.ts"
import { Runs, unreadable } from "./Runs.ts"
import { Searches } from "./Searches.ts"
import { Trajectories } from "./Trajectories.ts"
import { smoothed } from "./Chart.ts"
import { inOrder, splitNames } from "./Metrics.ts"
import * as Series from "./projection/Series.ts"
import { grouped, listed, perSeed, rows } from "./RunRows.ts"
import type { SeriesQuery, SeriesView } from "./view/SeriesView.ts"

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
        const { record, source, view } = yield* runs.read(params.run)
        return overview(view, record, yield* source.notes)
      }),
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
      comparison: ({ params }) => searches.comparison(params.search),
      changes: () => Effect.succeed(Stream.merge(runs.changes, Stream.merge(searches.changes, beats)))
    })
  })
)

/** Opens the stream at once and keeps idle connections open; without beats the page knows that the server is gone. */
const beats: Stream.Stream<Change> = Stream.make<[Change]>({ _tag: "Beat" }).pipe(
  Stream.concat(Stream.fromSchedule(Schedule.spaced("15 seconds")).pipe(Stream.map((): Change => ({ _tag: "Beat" }))))
)

/** The metrics of the runs that are asked for, or of their groups of seeds. */
const series = Effect.fn("SeriesRequest.series")(function* (runs: Runs.Interface, query: SeriesQuery) {
  const ids = query.runs.split(",").filter((id) => id !== "")
  const chosen = ids.slice(0, mostCompared)
  const metrics = splitNames(query.metrics)
  const names = new Set<string>()
  const seriesOf = Effect.fnUntraced(function* (id: string) {
    const { record, source } = yield* runs.read(id)
    for (const name of Series.recorded(record)) names.add(name)
    const seconds = query.x === "time" ? yield* source.seconds : new Map<number, number>()
    return Series.seriesOf({ id, record, seconds }, metrics, query.x)
  })
  const { smooth } = query
  const found =
    smooth === undefined
      ? yield* Effect.forEach(chosen, seriesOf)
      : yield* Effect.forEach(yield* groups(runs, query, chosen), ({ id, members }) =>
          Effect.map(Effect.forEach(members, seriesOf), (all) =>
            Series.meanSeries(
              id,
              all.map((one) => smoothed(one, smooth))
            )
          )
        )
  return { x: query.x, metrics: inOrder(names), series: found } satisfies SeriesView
})

/** The runs of the group that each run is in. */
const groups = Effect.fnUntraced(function* (runs: Runs.Interface, query: SeriesQuery, ids: ReadonlyArray<string>) {
  const all = rows(yield* runs.list, yield* runs.settings)
  const found = grouped(listed(all, query.filter ?? "", query.nested === "shown"), [])
  return ids.flatMap((id) => {
    const own = found.find((group) => group.rows.some(({ run }) => run.id === id))
    const members = perSeed(own?.rows ?? [], ({ run }) => run.problem === null).map(({ run }) => run.id)
    return members.length === 0 ? [] : [{ id, members }]
  })
})
