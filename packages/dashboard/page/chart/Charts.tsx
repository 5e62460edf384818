/** Charts of metrics, whose whole state is in the address. */
import { useMemo, useState, type ReactNode, useId } from "react"
import {
  type ChartState,
  type Drawn,
  extentOf,
  figureOf,
  panned,
  readState,
  scaleOf,
  smoothings,
  type Stretch,
  within,
  writeState,
  zoomed
} from "../../src/Chart.ts"
import { plural } from "@inspo/report"
import { metric } from "../../src/Metrics.ts"
import type { Figure } from "../../src/Figure.ts"
import { XAxis } from "../../src/view/SeriesView.ts"
import type { Route } from "../Route.ts"
import { go, withQuery } from "../Routing.ts"
import type { FileKind } from "./Download.ts"
import { Chart, type ChartProps } from "./Chart.tsx"
import type { Drawable } from "./useSeries.ts"
import { Button, Check, Choice } from "../part/Form.tsx"

type Lists = ReadonlyArray<ReadonlyArray<string>>

/** The state of the charts in the address, and how to change it. `charts` are those that are shown. */
export const useChartState = (route: Route, usual: Lists) => {
  const state = readState(route.query)
  return {
    state,
    charts: state.charts ?? usual,
    change: (changes: Partial<ChartState>) => go(withQuery(route, writeState(changes)), "replace")
  }
}

type Shown = ReturnType<typeof useChartState>

interface ChartControlsProps {
  readonly data: Drawable
  readonly shown: Shown
  /** Further controls. */
}

/** What all charts of a view share: the horizontal axis with its zoom, smoothing, the vertical axis, and which charts there are. */
export const ChartControls = ({ data, shown }: ChartControlsProps) => {
  const { change, charts, state } = shown
  const all = charts.flat()
  const toggle = (name: string) =>
    change({
      charts: all.includes(name)
        ? charts.map((one) => one.filter((own) => own !== name)).filter(({ length }) => length > 0)
        : [...charts, [name]]
    })
  return (
    <div className="filters chart-controls" role="group" aria-label="Charts">
      <Choice
        name="Horizontal axis"
        value={state.x}
        options={XAxis.literals.map((x) => [x, x])}
        onChange={(chosen) => change({ x: XAxis.literals.find((x) => x === chosen) ?? "step" })}
      />
      <Choice
        name="Smoothing"
        value={String(state.smoothing)}
        options={smoothings.map((count) => [String(count), count === 1 ? "none" : `mean of ${count} steps`])}
        onChange={(chosen) => change({ smoothing: Number(chosen) })}
      />
      <Check checked={state.isLog} onChange={(checked) => change({ isLog: checked })}>
        Logarithmic
      </Check>
      <ZoomButtons extent={extentOf(data.series)} zoom={state.zoom} onZoom={(zoom) => change({ zoom })} />
      <Popover label="Charts …" title="Choose charts">
        <MetricPicker metrics={data.metrics} chosen={all} onToggle={toggle} legend="A chart for each of" />
        <Button disabled={state.charts === null} onClick={() => change({ charts: null })}>
          Usual charts
        </Button>
      </Popover>
    </div>
  )
}

interface ZoomButtonsProps {
  readonly extent: Stretch | null
  readonly zoom: Stretch | null
  readonly onZoom: (zoom: Stretch | null) => void
}

/** Zooms and moves charts by buttons. `extent` is the whole horizontal axis; null if it is empty. */
export const ZoomButtons = ({ extent, onZoom, zoom }: ZoomButtonsProps) => {
  const isAll = zoom === null || extent === null
  const buttons = [
    ["+", "Zoom in", extent === null, () => extent && zoomed(zoom, extent, 0.5)],
    ["−", "Zoom out", isAll, () => extent && zoomed(zoom, extent, 2)],
    ["‹", "Move left", isAll, () => extent && zoom && panned(zoom, extent, -0.5)],
    ["›", "Move right", isAll, () => extent && zoom && panned(zoom, extent, 0.5)]
  ] as const
  return (
    <span className="pager inline" role="group" aria-label="Zoom">
      {buttons.map(([sign, title, disabled, next]) => (
        <button
          key={sign}
          type="button"
          aria-label={title}
          title={`${title}; in a chart, drag to zoom, drag with Shift to move`}
          disabled={disabled}
          onClick={() => onZoom(next())}
        >
          {sign}
        </button>
      ))}
      <button type="button" disabled={zoom === null} onClick={() => onZoom(null)}>
        Show all
      </button>
    </span>
  )
}

export interface ChartGridProps extends Pick<Drawn, "marks" | "naming"> {
  readonly data: Drawable
  readonly shown: Shown
  /** The charts; those of the state when absent, which the user can change. */
  readonly fixed?: Lists
  readonly titleOf?: (metrics: ReadonlyArray<string>) => string | undefined
  readonly className?: string
  readonly height?: number
}

export const ChartGrid = ({ className = "", fixed, shown: { change, charts, ...shown }, ...props }: ChartGridProps) => (
  <div className={`charts ${className}`}>
    {(fixed ?? charts).map((metrics, place) => (
      <MetricChart
        key={place}
        {...props}
        metrics={metrics}
        shown={{ ...shown, change }}
        onMetrics={
          fixed === undefined
            ? (next) => change({ charts: charts.toSpliced(place, 1, ...(next.length === 0 ? [] : [next])) })
            : undefined
        }
      />
    ))}
  </div>
)

interface MetricChartProps extends Pick<ChartGridProps, "data" | "height" | "marks" | "naming" | "titleOf"> {
  readonly metrics: ReadonlyArray<string>
  readonly shown: Pick<Shown, "state" | "change">
  readonly onMetrics: ((metrics: ReadonlyArray<string>) => void) | undefined
}

const MetricChart = ({
  data,
  height,
  marks,
  metrics,
  naming,
  onMetrics,
  shown: { change, state },
  titleOf
}: MetricChartProps) => {
  const { isLog, smoothing } = state
  const title = titleOf?.(metrics)
  const figure = useMemo(
    () =>
      figureOf({
        metrics,
        title,
        series: data.series,
        state: { x: data.x, smoothing, isLog },
        ...(marks === undefined ? {} : { marks }),
        ...(naming === undefined ? {} : { naming })
      }),
    [data, metrics.join(), title, smoothing, isLog, marks, naming]
  )
  const { unit } = scaleOf(data.x, data.series)
  const zoom =
    state.zoom === null || state.x !== data.x ? null : ([state.zoom[0] / unit, state.zoom[1] / unit] as const)
  return (
    <div className="card chart-card">
      <Chart
        figure={figure}
        zoom={zoom}
        onZoom={(next) => change({ zoom: next === null ? null : [next[0] * unit, next[1] * unit] })}
        {...(height === undefined ? {} : { height })}
        menu={
          <ChartMenu figure={within(figure, zoom)}>
            {onMetrics !== undefined && (
              <>
                <MetricPicker
                  legend="On this axis"
                  metrics={[...new Set([...metrics, ...data.metrics])]}
                  chosen={metrics}
                  onToggle={(name) =>
                    onMetrics(metrics.includes(name) ? metrics.filter((own) => own !== name) : [...metrics, name])
                  }
                />
                <Button onClick={() => onMetrics([])}>Remove chart</Button>
              </>
            )}
          </ChartMenu>
        }
      />
    </div>
  )
}

/** A chart of instructions over steps, of which one can be picked, in the charts and lists of a view. */
export const CourseChart = (props: Pick<ChartProps, "figure" | "picked" | "onPick">) => (
  <Chart {...props} height={300} menu={<ChartMenu figure={props.figure} />} />
)

/** The files of a chart, and what else can be done with it. */
export const ChartMenu = ({ children, figure }: { readonly figure: Figure; readonly children?: React.ReactNode }) => {
  const [problem, setProblem] = useState("")
  const save = (kind: FileKind) =>
    void import("./Download.ts")
      .then(({ download }) => download(figure, kind))
      .then(
        () => setProblem(""),
        (error: unknown) => setProblem(`Not saved: ${error instanceof Error ? error.message : String(error)}`)
      )
  return (
    <Popover className="chart-menu" label="⋯" title={`Options of ${figure.title}`}>
      <h2>{figure.title}</h2>
      <p className="muted small">
        Files of what the chart shows now: SVG for a paper, PNG for slides, CSV for its values.
      </p>
      <div className="row tight">
        {(["svg", "png", "csv"] as const).map((kind) => (
          <button key={kind} type="button" className="button" onClick={() => save(kind)}>
            Save {kind.toUpperCase()}
          </button>
        ))}
      </div>
      <p role="status">{problem}</p>
      {children}
    </Popover>
  )
}

/** Metrics that are listed at once. */
const mostListed = 60

/** Metrics of one view: their names have to fit an address. */
const mostChosen = 30

interface MetricPickerProps {
  readonly legend: string
  readonly metrics: ReadonlyArray<string>
  readonly chosen: ReadonlyArray<string>
  readonly onToggle: (name: string) => void
}

const MetricPicker = ({ chosen, legend, metrics, onToggle }: MetricPickerProps) => {
  const [filter, setFilter] = useState("")
  const found = metrics.filter((name) => `${name} ${metric(name).title}`.toLowerCase().includes(filter.toLowerCase()))
  return (
    <fieldset className="picker">
      <legend>{legend}</legend>
      <input
        type="search"
        aria-label="Find a metric"
        placeholder="Find a metric"
        value={filter}
        onChange={({ currentTarget }) => setFilter(currentTarget.value)}
      />
      <ul>
        {found.slice(0, mostListed).map((name) => (
          <li key={name}>
            <Check
              checked={chosen.includes(name)}
              disabled={chosen.length >= mostChosen && !chosen.includes(name)}
              onChange={() => onToggle(name)}
            >
              {metric(name).title} <span className="muted mono small">{name}</span>
            </Check>
          </li>
        ))}
      </ul>
      <p className="muted small" role="status">
        {found.length > mostListed
          ? `${plural(found.length - mostListed, "more metric")}: type a part of the name`
          : plural(found.length, "metric")}
        {chosen.length >= mostChosen && `; at most ${mostChosen} can be chosen`}
      </p>
    </fieldset>
  )
}

interface PopoverProps {
  readonly label: ReactNode
  /** The name of the button and of the panel. */
  readonly title: string
  readonly className?: string
  readonly children: ReactNode
}

/** A button that opens a panel above the page; its content is made when it opens. Escape or a click elsewhere closes it. */
const Popover = ({ children, className = "button", label, title }: PopoverProps) => {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className={className} popoverTarget={id} aria-label={title} aria-haspopup="dialog">
        {label}
      </button>
      <div
        id={id}
        popover="auto"
        role="dialog"
        aria-label={title}
        className="popover"
        onToggle={({ newState }) => setOpen(newState === "open")}
      >
        {isOpen && children}
      </div>
    </>
  )
}
