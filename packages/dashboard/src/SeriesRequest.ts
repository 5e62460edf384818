import { Effect } from "effect"
import { smoothed } from "./Chart.ts"
import { mostCompared } from "./Curves.ts"
import { inOrder, splitNames } from "./Metrics.ts"
import * as Series from "./projection/Series.ts"
import { grouped, listed, perSeed, rows } from "./RunRows.ts"
import type { Runs } from "./Runs.ts"
import type { SeriesQuery, SeriesView } from "./view/SeriesView.ts"

/** The metrics of the runs that are asked for, or of their groups of seeds. */
export const series = Effect.fn("SeriesRequest.series")(function* (runs: Runs.Interface, query: SeriesQuery) {
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
