import { useEffect, useMemo, useRef, useState } from "react"
import uPlot from "uplot"
import { type Bounds, distances, ends } from "../../src/Axis.ts"
import type { Mark } from "../../src/view/OverviewView.ts"
import { CurveSwatch } from "../part/Parts.tsx"
import { resolveColour, useTheme } from "../Theme.ts"

export interface Curve {
  readonly label: string
  readonly values: ReadonlyArray<number | null>
  /** A CSS colour. */
  readonly colour: string
  readonly width?: number
  /** Lengths of drawn and empty stretches in pixels; none for a solid line. */
  readonly dash?: ReadonlyArray<number>
  /** Without a name beside the values, such as the end of an interval. */
  readonly quiet?: boolean
}

export interface LineChartProps {
  readonly title: string
  readonly steps: ReadonlyArray<number>
  readonly curves: ReadonlyArray<Curve>
  readonly format: (value: number | null) => string
  /** For the values of the axis; `format` when absent. */
  readonly axisFormat?: (value: number | null) => string
  readonly marks?: ReadonlyArray<Mark>
  readonly range?: Bounds
  readonly height?: number
  /** A step in a word. */
  readonly unit?: string
}

/** Curves over steps. All charts of a page show the values of the step under the pointer. */
export const LineChart = (props: LineChartProps) => {
  const { curves, format, axisFormat = format, height = 190, marks = none, range, steps, title, unit = "step" } = props
  const host = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>(null)
  const [pointed, setPointed] = useState<number | null>(null)
  const theme = useTheme()
  const named = curves.filter(({ quiet }) => quiet !== true)
  const layout = JSON.stringify([theme, title, height, range, curves.map((curve) => ({ ...curve, values: null }))])
  const data = useMemo(
    (): uPlot.AlignedData => [[...steps], ...curves.map(({ values }) => [...values])],
    [steps, curves]
  )
  const latest = useRef({ data, axisFormat, marks })
  latest.current = { data, axisFormat, marks }

  useEffect(() => {
    const element = host.current
    if (element === null) return
    const made = new uPlot(
      options({ curves, range, isAlone: steps.length === 1, height, width: element.clientWidth, latest, setPointed }),
      latest.current.data,
      element
    )
    chart.current = made
    const observer = new ResizeObserver(() =>
      made.setSize({ width: Math.max(120, element.clientWidth), height: made.height })
    )
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
      chart.current = null
    }
    // A change of these makes a new chart; new values are set below.
  }, [layout])

  useEffect(() => chart.current?.setData(data), [data])

  const at = pointed ?? steps.length - 1
  return (
    <figure className="chart">
      <figcaption className={named.length > 2 ? "many" : ""}>
        <span className="chart-title">{title}</span>
        <span className="chart-values">
          {steps.length > 0 && (
            <span className="muted">
              {unit} {steps[at] ?? "–"}
            </span>
          )}
          {named.map(({ colour, dash = [], label, values }) => (
            <span key={label}>
              {named.length > 1 && <CurveSwatch colour={colour} dash={dash} />}
              {named.length > 1 && <span className="muted">{label} </span>}
              <b>{format(values[at] ?? null)}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={host} role="img" aria-label={describe(props)} className="chart-canvas" />
    </figure>
  )
}

const none: ReadonlyArray<Mark> = []

/** What a chart shows now. */
interface Latest {
  readonly current: {
    readonly axisFormat: (value: number | null) => string
    readonly marks: ReadonlyArray<Mark>
  }
}

const options = ({
  curves,
  height,
  isAlone,
  latest,
  range,
  setPointed,
  width
}: {
  readonly curves: ReadonlyArray<Curve>
  readonly range: Bounds | undefined
  /** Whether there is only one step, so that points replace the line. */
  readonly isAlone: boolean
  readonly height: number
  readonly width: number
  readonly latest: Latest
  readonly setPointed: (index: number | null) => void
}): uPlot.Options => {
  const colours = {
    grid: resolveColour("var(--line)"),
    text: resolveColour("var(--muted)"),
    prune: resolveColour("var(--prune)"),
    evolve: resolveColour("var(--evolve)"),
    skip: resolveColour("var(--line-strong)")
  }
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
  return {
    width: Math.max(120, width),
    height: Math.round((height * rem) / 16),
    padding: [Math.round(rem * 0.9), Math.round(rem * 1.1), 0, 0],
    cursor: {
      sync: { key: "steps", setSeries: false },
      y: false,
      points: { size: 7 },
      drag: { x: false, y: false }
    },
    legend: { show: false },
    scales: {
      x: { time: false, range: (_, low, high) => (low === high ? [low - 1, high + 1] : [low, high]) },
      y: { range: (_, low, high) => ends(low, high, range) }
    },
    axes: axesOf(colours, rem, latest),
    series: [{}, ...curves.map((curve) => seriesOf(curve, rem, isAlone))],
    hooks: {
      drawClear: [(plot) => drawMarks(plot, latest.current.marks, colours, rem)],
      setCursor: [({ cursor }) => setPointed(cursor.idx ?? null)]
    }
  }
}

const axesOf = (
  colours: { readonly text: string; readonly grid: string },
  rem: number,
  latest: Latest
): Array<uPlot.Axis> => {
  const font = `${Math.round(rem * 0.75)}px ${getComputedStyle(document.body).fontFamily}`
  const axis = { stroke: colours.text, font, ticks: { show: false }, grid: { stroke: colours.grid, width: 1 } }
  return [
    {
      ...axis,
      grid: { show: false },
      size: Math.round(rem * 1.6),
      space: rem * 3.5,
      incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    },
    {
      ...axis,
      // As wide as the longest label takes.
      size: (plot, values) => {
        plot.ctx.save()
        plot.ctx.font = font
        const widest = Math.max(0, ...(values ?? []).map((value) => plot.ctx.measureText(value).width))
        plot.ctx.restore()
        return Math.max(Math.round(rem * 3.2), Math.ceil(widest + rem))
      },
      space: rem * 2.2,
      incrs: [...distances],
      values: (_, values) => values.map((value) => latest.current.axisFormat(value))
    }
  ]
}

const seriesOf = ({ colour, dash = [], label, width = 2 }: Curve, rem: number, isAlone: boolean): uPlot.Series => {
  const stroke = resolveColour(colour)
  return {
    label,
    stroke,
    width: (width * rem) / 15,
    spanGaps: true,
    ...(dash.length > 0 ? { dash: [...dash] } : {}),
    points: { show: isAlone, size: 6, fill: stroke, stroke }
  }
}

/** Lines at prunings and evolutions, behind the curves; if there are many, prunings are only ticks at the top. */
const drawMarks = (
  plot: uPlot,
  marks: ReadonlyArray<Mark>,
  colours: Readonly<Record<Mark["kind"], string>>,
  rem: number
) => {
  const { ctx } = plot
  const { height, left, top, width } = plot.bbox
  const pixel = devicePixelRatio
  const isDense = width / Math.max(1, marks.length) < rem * pixel
  const size = rem * (isDense ? 0.16 : 0.28) * pixel
  ctx.save()
  for (const { kind, step } of marks) {
    const x = Math.round(plot.valToPos(step, "x", true)) + 0.5
    if (x < left || x > left + width) continue
    ctx.strokeStyle = colours[kind]
    ctx.fillStyle = colours[kind]
    ctx.globalAlpha = isDense ? 0.3 : 0.5
    ctx.lineWidth = pixel
    ctx.setLineDash(kind === "evolve" ? [] : [3 * pixel, 3 * pixel])
    ctx.beginPath()
    if (kind === "evolve" || !isDense) {
      ctx.moveTo(x, top)
      ctx.lineTo(x, top + height)
    }
    ctx.stroke()
    ctx.globalAlpha = 1
    ctx.beginPath()
    if (kind === "evolve") ctx.arc(x, top - size, size, 0, 2 * Math.PI)
    else {
      ctx.moveTo(x - size, top - 1.9 * size)
      ctx.lineTo(x + size, top - 1.9 * size)
      ctx.lineTo(x, top)
    }
    if (kind !== "skip") ctx.fill()
  }
  ctx.restore()
}

/** The chart in words, for screen readers. */
const describe = ({ curves, format, steps, title, unit = "step" }: LineChartProps): string => {
  if (steps.length === 0) return `${title}: no values yet`
  const ranges = curves
    .filter(({ quiet }) => quiet !== true)
    .map(({ label, values }) => {
      const known = values.filter((value) => value !== null)
      const [first] = known
      const last = known.at(-1)
      return first === undefined || last === undefined
        ? `${label}: no values`
        : `${label} from ${format(first)} to ${format(last)}, lowest ${format(Math.min(...known))}, highest ${format(Math.max(...known))}`
    })
  return `${title} from ${unit} ${steps[0]} to ${steps.at(-1)}. ${ranges.join(". ")}.`
}
