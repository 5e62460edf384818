import { useMemo, useRef } from "react"
import type { Named } from "../../src/Chart.ts"
import { joinNames } from "../../src/Metrics.ts"
import type { SeriesQuery, SeriesView } from "../../src/view/SeriesView.ts"
import { makeQuery } from "../source/RunClient.ts"

const useView = makeQuery((client, query: SeriesQuery) => client.series({ query }))

/** What to draw: runs, or groups of seeds, each by an id and with the name of its curves. */
export interface Wanted extends Omit<SeriesQuery, "runs" | "metrics"> {
  readonly labels: ReadonlyMap<string, string>
  readonly metrics: ReadonlyArray<string>
}

export interface Drawable {
  readonly x: SeriesView["x"]
  /** All recorded metrics. */
  readonly metrics: ReadonlyArray<string>
  readonly series: ReadonlyArray<Named>
}

/** The metrics to draw; while others are loaded, those before. */
export const useSeries = (
  { labels, metrics, ...query }: Wanted,
  version: string
): { readonly data: Drawable | null; readonly problem: string | null } => {
  const { data, problem } = useView(
    { ...query, runs: [...labels.keys()].join(","), metrics: joinNames([...new Set(metrics)]) },
    version
  )
  const last = useRef<SeriesView>(null)
  if (data !== null) last.current = data
  const shown = data ?? last.current
  const names = JSON.stringify([...labels])
  const drawable = useMemo(
    () =>
      shown === null
        ? null
        : {
            x: shown.x,
            metrics: shown.metrics,
            series: shown.series.flatMap((one) => {
              const label = labels.get(one.id)
              return label === undefined ? [] : [{ ...one, label }]
            })
          },
    // Labels are compared by their text: a view makes new ones each time.
    [shown, names]
  )
  return { data: drawable, problem }
}
