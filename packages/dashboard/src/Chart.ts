/** What charts of metrics show, for a state that is kept in the address. Pure; the page and its files are drawn from it. */
import { Record } from "effect"
import { look } from "./Curves.ts"
import { axis, compact, count, percent, plural, quantity } from "@inspo/report"
import { movingMean } from "./Means.ts"
import { joinCharts, metric as metricOf, type Metric, splitCharts } from "./Metrics.ts"
import type { Figure, Horizontal, Line } from "./Figure.ts"
import type { Mark } from "./view/OverviewView.ts"
import { type Series, XAxis } from "./view/SeriesView.ts"

/** A stretch of the horizontal axis. */
export type Stretch = readonly [from: number, to: number]

export interface ChartState {
  readonly x: XAxis
  /** Steps of the moving mean; 1 for none. */
  readonly smoothing: number
  readonly isLog: boolean
  /** The stretch that is shown; null for everything. */
  readonly zoom: Stretch | null
  /** The metrics of each chart; null for the view's own choice. */
  readonly charts: ReadonlyArray<ReadonlyArray<string>> | null
}

/** Steps of the moving mean that the page offers. */
export const smoothings = [1, 5, 10, 20, 50] as const

const usualSmoothing = 5

/** The state in the query of an address; an invalid part has its usual value. */
export const readState = (query: ReadonlyMap<string, string>): ChartState => {
  const smoothing = Number(query.get("smooth") ?? usualSmoothing)
  const ends = (query.get("zoom") ?? "").split(":").map(Number)
  const [from = Number.NaN, to = Number.NaN] = ends
  const charts = query.get("charts")
  return {
    x: XAxis.literals.find((name) => name === query.get("x")) ?? "step",
    smoothing: smoothings.find((known) => known === smoothing) ?? usualSmoothing,
    isLog: query.get("y") === "log",
    zoom: ends.length === 2 && from < to ? [from, to] : null,
    charts: charts === undefined ? null : splitCharts(charts)
  }
}

/** Changes of the state as changes of the query; usual values are left out of the address. */
export const writeState = (changes: Partial<ChartState>): Readonly<Record<string, string>> => ({
  // Another axis has other positions.
  ...(changes.x === undefined ? {} : { x: changes.x === "step" ? "" : changes.x, zoom: "" }),
  ...(changes.smoothing === undefined
    ? {}
    : { smooth: changes.smoothing === usualSmoothing ? "" : String(changes.smoothing) }),
  ...(changes.isLog === undefined ? {} : { y: changes.isLog ? "log" : "" }),
  ...(changes.zoom === undefined
    ? {}
    : { zoom: changes.zoom === null ? "" : changes.zoom.map((end) => Number(end.toPrecision(7))).join(":") }),
  ...(changes.charts === undefined ? {} : { charts: changes.charts === null ? "" : joinCharts(changes.charts) || ";" })
})

/** The ends of all positions of some series; null without any. */
export const extentOf = (all: ReadonlyArray<Pick<Series, "x">>): Stretch | null => {
  const known = all.flatMap(({ x }) => x.filter((value) => value !== null))
  const [from, to] = [Math.min(...known), Math.max(...known)]
  return from < to ? [from, to] : null
}

/** A stretch of `factor` times the width with the same middle, within the extent; null for all of it. */
export const zoomed = (stretch: Stretch | null, extent: Stretch, factor: number): Stretch | null => {
  const [from, to] = stretch ?? extent
  const [middle, half] = [(from + to) / 2, (factor * (to - from)) / 2]
  const next = [Math.max(extent[0], middle - half), Math.min(extent[1], middle + half)] as const
  return (next[0] <= extent[0] && next[1] >= extent[1]) || next[0] >= next[1] ? null : next
}

/** The stretch moved by a share of its width, within the extent. */
export const panned = ([from, to]: Stretch, [first, last]: Stretch, share: number): Stretch => {
  const move = Math.max(Math.min(0, first - from), Math.min(Math.max(0, last - to), share * (to - from)))
  return [from + move, to + move]
}

/** The series with moving means, except of validations, whose intervals would not belong to the means. */
export const smoothed = (series: Series, count: number): Series => {
  const smooth = (values: Series["values"][string], name: string) =>
    isSmoothable(name) ? movingMean(values, count) : values
  return count === 1 ? series : { ...series, values: Record.map(series.values, smooth) }
}

const isSmoothable = (name: string): boolean => !name.startsWith("val/")

export interface Named extends Series {
  readonly label: string
}

export interface Drawn {
  /** As they were recorded; the figure smooths those of single runs, groups are smoothed before their mean. */
  readonly series: ReadonlyArray<Named>
  readonly metrics: ReadonlyArray<string>
  readonly state: Pick<ChartState, "x" | "smoothing" | "isLog">
  readonly title?: string | undefined
  readonly marks?: ReadonlyArray<Mark>
  /** Names of metrics; {@link metricOf} when absent. */
  readonly naming?: (name: string) => Metric
}

/** Some metrics of some series on one axis. */
export const figureOf = ({ marks = [], metrics, naming = metricOf, series, state, title }: Drawn): Figure => {
  const { isLog, smoothing, x } = state
  const known = metrics.map((name) => ({ name, ...naming(name) }))
  const { unit: perUnit, ...horizontal } = scaleOf(x, series)
  const placed = series.map((own) => ({ ...own, x: own.x.map((value) => (value === null ? null : value / perUnit)) }))
  const positions = [...new Set(placed.flatMap(({ x }) => x.filter((value) => value !== null)))].toSorted(
    (a, b) => a - b
  )
  const hasBand = (own: Series, name: string) => own.bands[name]?.some((ends) => ends !== null) === true
  const isSmoothed = smoothing > 1 && metrics.some(isSmoothable)
  const isAlone = series.length === 1 && metrics.length === 1
  const curves = placed.flatMap((own, place) => {
    const at = new Map(own.x.map((value, index) => [value, index]))
    const along = <A>(values: ReadonlyArray<A | null>) =>
      positions.map((position) => values[at.get(position) ?? -1] ?? null)
    const means = own.runs === 1 ? smoothed(own, smoothing) : own
    return known.flatMap(({ name, title: label }, number): ReadonlyArray<Line> => {
      const band = hasBand(own, name) ? along(own.bands[name] ?? []) : undefined
      const lines: ReadonlyArray<Line> = [
        {
          label: series.length === 1 ? label : metrics.length === 1 ? own.label : `${own.label}, ${label}`,
          values: along(means.values[name] ?? []),
          ...(isAlone ? { tone: "accent" } : series.length === 1 ? look(number) : look(place, number)),
          ...(band === undefined ? {} : { band })
        }
      ]
      return isAlone && isSmoothed && band === undefined
        ? [
            { label: "each step", values: along(own.values[name] ?? []), tone: "faint" },
            ...lines.map((line) => ({ ...line, label: `mean of ${smoothing}` }))
          ]
        : lines
    })
  })
  const units = new Set(known.map(({ isShare, unit }) => (isShare ? "%" : unit)))
  const [unit = ""] = units.size === 1 ? units : []
  const isShare = unit === "%"
  const own = title ?? [...known.map((one) => one.title), ...(unit === "" || isShare ? [] : [unit])].join(", ")
  return {
    title: isSmoothed && !(isAlone && curves.length > 1) ? `${own}, mean of ${smoothing} steps` : own,
    steps: positions,
    curves: isLog ? curves.map(positive) : curves,
    ...(isLog ? { isLog, ...omission(curves) } : {}),
    ...(isShare ? { fromZero: true, most: 1, format: axisPercent } : { format: axis, show: quantity }),
    ...(x === "step" ? {} : { horizontal }),
    vertical: metrics.length === 1 ? own : isShare ? "" : unit,
    marks: marksAt(marks, placed[0])
  }
}

/** The decisions at the places of their steps on the horizontal axis. */
const marksAt = (marks: ReadonlyArray<Mark>, series: Pick<Series, "steps" | "x"> | undefined) => {
  const at = new Map(series?.steps.map((step, index) => [step, series.x[index] ?? null]))
  return marks.flatMap(({ kind, step }) => {
    const place = at.get(step) ?? null
    return place === null ? [] : [{ kind, step: place }]
  })
}

/** What a logarithmic axis leaves out. */
const omission = (curves: ReadonlyArray<Line>): Pick<Figure, "note"> => {
  const omitted = curves.flatMap(({ values }) => values.filter((value) => value !== null && value <= 0)).length
  return omitted === 0 ? {} : { note: `Without ${plural(omitted, "value")} of 0 or less` }
}

/** A curve on a logarithmic axis: what is not positive has no place there, and its band ends at the lowest positive value. */
const positive = (line: Line): Line => {
  const ends = line.band?.flatMap((one) => one ?? []) ?? []
  const lowest = Math.min(...[...line.values, ...ends].filter((value) => value !== null && value > 0).map(Number))
  return {
    ...line,
    values: line.values.map((value) => (value !== null && value > 0 ? value : null)),
    ...(line.band === undefined
      ? {}
      : { band: line.band.map((one) => (one === null || one[1] <= 0 ? null : [Math.max(lowest, one[0]), one[1]])) })
  }
}

/** The horizontal axis of some series, and how many recorded units one of its own is: seconds in a minute, or 1. */
export const scaleOf = (x: XAxis, all: ReadonlyArray<Pick<Series, "x">>): Horizontal & { readonly unit: number } => {
  const highest = extentOf(all)?.[1] ?? 0
  if (x === "step") return { title: "Step", format: count, unit: 1 }
  if (x !== "time") return { title: x === "tokens" ? "Tokens" : "Rollouts", format: compact, unit: 1 }
  const [unit, name] = highest < 300 ? [1, "s"] : highest < 18_000 ? [60, "min"] : [3600, "h"]
  return { title: `Time, ${name}`, format: axis, unit }
}

const axisPercent = (value: number): string => percent(value, Math.abs(value) < 0.01 && value !== 0 ? 2 : 0)

/** The last value of a curve up to a position; null before its first one, and after its end unless `isAfterEnd`. */
export const valueAt = (values: ReadonlyArray<number | null>, index: number, isAfterEnd: boolean): number | null => {
  const last = values.findLastIndex((value) => value !== null)
  if (last < index && !isAfterEnd) return null
  return values[values.findLastIndex((value, place) => place <= index && value !== null)] ?? null
}

/** The part of a figure within a stretch of its horizontal axis. */
export const within = (figure: Figure, stretch: Stretch | null): Figure => {
  if (stretch === null) return figure
  const isIn = (_: unknown, index: number) => {
    const step = figure.steps[index] ?? Number.NaN
    return step >= stretch[0] && step <= stretch[1]
  }
  return {
    ...figure,
    steps: figure.steps.filter(isIn),
    curves: figure.curves.map((curve) => ({
      ...curve,
      values: curve.values.filter(isIn),
      ...(curve.band === undefined ? {} : { band: curve.band.filter(isIn) })
    }))
  }
}

/** The figure as CSV: a column of positions, then each curve, with the ends of its interval if it has one. */
export const csv = ({ curves, horizontal, steps }: Figure): string =>
  [
    [
      horizontal?.title ?? "Step",
      ...curves.flatMap(({ band, label }) => [label, ...(band === undefined ? [] : [`${label} low`, `${label} high`])])
    ],
    ...steps.map((step, index) => [
      step,
      ...curves.flatMap(({ band, values }) => [
        values[index] ?? "",
        ...(band === undefined ? [] : [band[index]?.[0] ?? "", band[index]?.[1] ?? ""])
      ])
    ])
  ]
    .map((row) => `${row.map(cell).join(",")}\r\n`)
    .join("")

/** Quoted where a comma, a quote or a line break needs it. */
const cell = (value: string | number): string =>
  typeof value === "number" || !/[",\r\n]/u.test(value) ? String(value) : `"${value.replaceAll('"', '""')}"`
