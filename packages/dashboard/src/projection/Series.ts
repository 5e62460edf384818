import { Exact } from "@inspo/statistics"
import { metric, namesIn } from "../Metrics.ts"
import type { RunRecord } from "../RunRecord.ts"
import type { Series, XAxis } from "../view/SeriesView.ts"
import { bySource, share } from "./Scores.ts"

/** What a run is drawn from: its record, and the seconds of work up to the end of each step. */
export interface Drawn {
  readonly id: string
  readonly record: RunRecord
  readonly seconds: ReadonlyMap<number, number>
}

/** The names of all metrics that a run recorded: those of its steps, and of its validations. */
export const recorded = ({ rows, validated }: RunRecord): ReadonlySet<string> =>
  new Set([
    ...namesIn(rows),
    ...(validated.length > 0 ? [`${validation}mean`] : []),
    ...validated.flatMap(({ groups }) => groups.map(({ dataSource }) => `${validation}${dataSource}`))
  ])

/** Metrics of one run. A validation has the 95 % interval of its questions. */
export const seriesOf = (
  { id, record: { rows, validated }, seconds }: Drawn,
  metrics: ReadonlyArray<string>,
  axis: XAxis
): Series => {
  const rowAt = new Map(rows.map((row) => [row["step"] ?? 0, row]))
  const validations = metrics.filter((name) => name.startsWith("val/"))
  const validationAt = new Map(
    validations.length === 0 ? [] : validated.map(({ groups, step }) => [step, validationOf(groups)])
  )
  const steps = [...new Set([...rowAt.keys(), ...validationAt.keys()])].toSorted((a, b) => a - b)
  const x = (step: number): number | null => {
    const row = rowAt.get(step)
    if (axis === "step") return step
    if (axis === "time") return seconds.get(step) ?? null
    return row === undefined ? null : (row[`${axis}/train`] ?? 0) + (row[`${axis}/verification`] ?? 0)
  }
  const values = (name: string) =>
    steps.map((step) => rowAt.get(step)?.[name] ?? validationAt.get(step)?.[name]?.mean ?? null)
  return {
    id,
    runs: 1,
    steps,
    x: steps.map(x),
    values: Object.fromEntries(metrics.map((name) => [name, values(name)])),
    bands: Object.fromEntries(
      validations.map((name) => [name, steps.map((step) => validationAt.get(step)?.[name]?.ci95 ?? null)])
    )
  }
}

/** The scores on the validation questions by the names that trackers have for them. */
const validationOf = (groups: Parameters<typeof share>[0]): Readonly<Record<string, ReturnType<typeof share>>> => ({
  [`${validation}mean`]: share(groups),
  ...Object.fromEntries(Object.entries(bySource(groups)).map(([source, own]) => [`${validation}${source}`, own]))
})

const validation = "val/reward/"

/**
 * The mean of several runs at each step that all of them have reached, with its 95 % t-interval over the runs. The place of a step
 * on the horizontal axis is the mean of its places.
 */
export const meanSeries = (id: string, all: ReadonlyArray<Series>): Series => {
  const metrics = Object.keys(all[0]?.values ?? {})
  const indices = all.map(({ steps }) => new Map(steps.map((step, index) => [step, index])))
  const steps = (all[0]?.steps ?? []).filter((step) => indices.every((index) => index.has(step)))
  /** The estimate of what the runs have at a step; null if one of them has nothing. */
  const at = (step: number, of: (series: Series, index: number) => number | null) => {
    const values = all.flatMap((series, place) => of(series, indices[place]?.get(step) ?? -1) ?? [])
    return values.length < all.length ? null : Exact.estimate(values)
  }
  const estimates = metrics.map((name) => ({
    name,
    found: steps.map((step) => at(step, ({ values }, index) => values[name]?.[index] ?? null))
  }))
  return {
    id,
    runs: all.length,
    steps,
    x: steps.map((step) => at(step, ({ x }, index) => x[index] ?? null)?.mean ?? null),
    values: Object.fromEntries(estimates.map(({ found, name }) => [name, found.map((one) => one?.mean ?? null)])),
    bands: Object.fromEntries(
      estimates.map(({ found, name }) => [name, found.map((one) => within(name, one?.ci95 ?? null))])
    )
  }
}

/** An interval without what the metric cannot be. */
const within = (name: string, interval: readonly [number, number] | null): readonly [number, number] | null =>
  interval === null || !metric(name).isShare ? interval : [Math.max(0, interval[0]), Math.min(1, interval[1])]
