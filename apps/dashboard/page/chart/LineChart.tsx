import { type ReactNode, useEffect, useMemo, useRef, useState } from "react"
import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"
import { distances, ends, logEnds, logTicks } from "../../src/Axis.ts"
import { type Stretch, valueAt } from "../../src/Chart.ts"
import { colourOf } from "../../src/Curves.ts"
import { axis as axisText } from "@inspo/report"
import type { Figure, Line } from "../../src/report/FigureData.ts"
import type { Mark } from "../../src/view/OverviewView.ts"
import { CurveSwatch } from "../part/Parts.tsx"
import { resolveColour, useTheme } from "../Theme.ts"

export interface LineChartProps {
  readonly figure: Figure
  readonly height?: number
  /** The stretch of the horizontal axis that is shown; all of it when absent. */
  readonly zoom?: Stretch | null
  /** Called with the stretch that the user selects, or null to show everything. */
  readonly onZoom?: (zoom: Stretch | null) => void
  /** Called with the position on the horizontal axis that the user clicks on. */
  readonly onPick?: (position: number) => void
  /** Beside the title. */
  readonly menu?: ReactNode
}

/** The figure as a chart. All charts of a page show the values of the position under the pointer. */
export const LineChart = ({ figure, height = 190, menu, onPick, onZoom, zoom = null }: LineChartProps) => {
  const { curves, steps } = figure
  const host = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>(null)
  const [pointed, setPointed] = useState<number | null>(null)
  const theme = useTheme()
  const layout = JSON.stringify([
    theme,
    { ...figure, steps: steps.length === 1, marks: null, curves: curves.map(layoutOf) },
    height,
    onZoom === undefined
  ])
  const data = useMemo(
    (): uPlot.AlignedData => [
      [...steps],
      ...curves.flatMap(({ band, values }) => [
        [...values],
        ...(band === undefined ? [] : [band.map((one) => one?.[1] ?? null), band.map((one) => one?.[0] ?? null)])
      ])
    ],
    [steps, curves]
  )
  const latest = useRef({ figure, zoom, onZoom, onPick })
  latest.current = { figure, zoom, onZoom, onPick }

  useEffect(() => {
    const element = host.current
    if (element === null) return
    const made = new uPlot(options({ figure, height, width: element.clientWidth, latest, setPointed }), data, element)
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

  // Setting the data also sets the ends of the horizontal axis.
  useEffect(() => chart.current?.setData(data), [data, zoom?.[0], zoom?.[1]])

  return (
    <figure className="chart">
      <figcaption className={curves.length > 2 ? "many" : ""}>
        <span className="chart-head">
          <span className="chart-title">{figure.title}</span>
          {menu}
        </span>
        <Values figure={figure} pointed={pointed} zoom={zoom} />
      </figcaption>
      {figure.note !== undefined && <p className="muted small">{figure.note}</p>}
      <div ref={host} role="img" aria-label={describe(figure)} className="chart-canvas" />
    </figure>
  )
}

/** The values at the position under the pointer, or else the last ones that are shown. */
const Values = ({
  figure: { curves, format = axisText, horizontal, show = format, steps },
  pointed,
  zoom
}: {
  readonly figure: Figure
  readonly pointed: number | null
  readonly zoom: Stretch | null
}) => {
  const at = pointed ?? steps.findLastIndex((step) => zoom === null || step <= zoom[1])
  const position = steps[at]
  const isLast = pointed === null && curves.some(({ values }) => (values[at] ?? null) === null)
  return (
    <span className="chart-values">
      {position !== undefined && (
        <span className="muted">
          {isLast
            ? "last"
            : horizontal === undefined
              ? `step ${position}`
              : `${horizontal.title}: ${horizontal.format(position)}`}
        </span>
      )}
      {curves.map((curve) => {
        const { label } = curve
        const value = valueAt(curve.values, at, pointed === null)
        return (
          <span key={label}>
            {curves.length > 1 && <CurveSwatch {...curve} />}
            {curves.length > 1 && <span className="muted">{label} </span>}
            <b>{value === null ? "–" : show(value)}</b>
          </span>
        )
      })}
    </span>
  )
}

const layoutOf = ({ band, dash, instruction, label, tone }: Line) => [
  band === undefined,
  dash,
  instruction,
  label,
  tone
]

/** What a chart shows now. */
interface Latest {
  readonly current: {
    readonly figure: Figure
    readonly zoom: Stretch | null
    readonly onZoom: LineChartProps["onZoom"] | undefined
    readonly onPick: LineChartProps["onPick"] | undefined
  }
}

const options = ({
  figure,
  height,
  latest,
  setPointed,
  width
}: {
  readonly figure: Figure
  readonly height: number
  readonly width: number
  readonly latest: Latest
  readonly setPointed: (index: number | null) => void
}): uPlot.Options => {
  const { curves, isLog = false, steps } = figure
  const colours = {
    grid: resolveColour("var(--line)"),
    text: resolveColour("var(--muted)"),
    prune: resolveColour("var(--prune)"),
    evolve: resolveColour("var(--evolve)"),
    skip: resolveColour("var(--line-strong)")
  }
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
  const canZoom = latest.current.onZoom !== undefined
  return {
    width: Math.max(120, width),
    height: Math.round((height * rem) / 16),
    padding: [Math.round(rem * 0.9), Math.round(rem * 1.1), 0, 0],
    cursor: {
      sync: { key: "positions", setSeries: false, filters: { pub: (type) => /^mouse(?:move|leave)$/u.test(type) } },
      y: false,
      points: { size: 7 },
      drag: { x: canZoom, y: false, setScale: false },
      bind: {
        mousedown: (plot, _, start) => (event) => {
          if (!canZoom || !event.shiftKey) return start(event)
          pan(plot, event, latest)
          return null
        },
        dblclick: () => () => {
          latest.current.onZoom?.(null)
          return null
        }
      }
    },
    legend: { show: false },
    scales: {
      x: {
        time: false,
        range: (_, low, high) =>
          latest.current.zoom === null ? (low === high ? [low - 1, high + 1] : [low, high]) : [...latest.current.zoom]
      },
      y: {
        // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- uPlot declares its enum without values at run time.
        distr: isLog ? 3 : 1,
        range: (_, low, high) =>
          isLog ? logEnds(low > 0 ? low : 0.1, high > 0 ? high : 1) : ends(low ?? 0, high ?? 1, latest.current.figure)
      }
    },
    axes: axesOf(colours, rem, latest),
    series: [{}, ...curves.flatMap((curve) => seriesOf(curve, rem, steps.length === 1))],
    bands: bandsOf(curves),
    hooks: {
      init: [(plot) => onClick(plot, latest)],
      drawClear: [(plot) => drawMarks(plot, latest.current.figure.marks ?? [], colours, rem)],
      setCursor: [({ cursor }) => setPointed(cursor.idx ?? null)],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select
          if (width < 4) return
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          latest.current.onZoom?.([plot.posToVal(left, "x"), plot.posToVal(left + width, "x")])
        }
      ]
    }
  }
}

/** Picks the position that is clicked on; after a drag, uPlot stops the click. */
const onClick = ({ cursor, over }: uPlot, latest: Latest): void => {
  let timer: number | undefined
  over.addEventListener("click", ({ detail }) => {
    // What a pick shows can scroll the page, so a second click, which shows everything, has to be able to come first.
    window.clearTimeout(timer)
    const position = latest.current.figure.steps[cursor.idx ?? -1]
    if (position !== undefined && detail === 1)
      timer = window.setTimeout(() => latest.current.onPick?.(position), doubleClick)
  })
}

/** Milliseconds in which a second click makes a double click. */
const doubleClick = 300

/** Moves the shown stretch with the pointer; the address changes at the end only. */
const pan = (plot: uPlot, { clientX }: MouseEvent, { current }: Latest) => {
  const { max = 1, min = 0 } = plot.scales["x"] ?? {}
  const moved = (event: MouseEvent): [number, number] => {
    const by = ((clientX - event.clientX) * (max - min)) / plot.over.clientWidth
    return [min + by, max + by]
  }
  const onMove = (event: MouseEvent) => {
    const [from, to] = moved(event)
    plot.setScale("x", { min: from, max: to })
  }
  const onUp = (event: MouseEvent) => {
    document.removeEventListener("mousemove", onMove)
    current.onZoom?.(moved(event))
  }
  document.addEventListener("mousemove", onMove)
  document.addEventListener("mouseup", onUp, { once: true })
}

const axesOf = (
  colours: { readonly text: string; readonly grid: string },
  rem: number,
  latest: Latest
): Array<uPlot.Axis> => {
  const font = `${Math.round(rem * 0.75)}px ${getComputedStyle(document.body).fontFamily}`
  const axis = { stroke: colours.text, font, ticks: { show: false }, grid: { stroke: colours.grid, width: 1 } }
  const { horizontal, isLog } = latest.current.figure
  const shown = (value: number) => (latest.current.figure.format ?? axisText)(value)
  return [
    {
      ...axis,
      grid: { show: false },
      size: Math.round(rem * 1.6),
      space: rem * 3.5,
      incrs: distances.filter((distance) => horizontal !== undefined || distance >= 1),
      ...(horizontal === undefined ? {} : { values: (_, values) => values.map((value) => horizontal.format(value)) })
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
      values: (_, values) => values.map(shown),
      ...(isLog === true ? { splits: (_, __, low, high) => [...logTicks(low, high)], filter: (_, all) => all } : {})
    }
  ]
}

/** The curve, and the ends of its band, which are not drawn themselves. */
const seriesOf = (line: Line, rem: number, isAlone: boolean): Array<uPlot.Series> => {
  const { band, dash = [], label, tone } = line
  const stroke = resolveColour(colourOf(line))
  return [
    {
      label,
      stroke,
      width: ((tone === "faint" ? 1.5 : tone === "accent" ? 2.5 : 2) * rem) / 15,
      spanGaps: true,
      ...(dash.length > 0 ? { dash: [...dash] } : {}),
      points: { show: isAlone, size: 6, fill: stroke, stroke }
    },
    ...(band === undefined ? [] : [end, end])
  ]
}

const end: uPlot.Series = { spanGaps: true, points: { show: false } }

/** The areas between the ends of bands, in the colours of their curves. */
const bandsOf = (curves: ReadonlyArray<Line>): Array<uPlot.Band> => {
  let place = 1
  return curves.flatMap((line) => {
    const curve = place
    place += line.band === undefined ? 1 : 3
    if (line.band === undefined) return []
    const fill = resolveColour(`color-mix(in srgb, ${colourOf(line)} 16%, transparent)`)
    return [{ series: [curve + 1, curve + 2], fill }]
  })
}

/** Lines at prunings and evolutions, behind the curves; if there are many, prunings are only ticks at the top. */
const drawMarks = (
  plot: uPlot,
  marks: NonNullable<Figure["marks"]>,
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
const describe = ({ curves, format = axisText, horizontal, show = format, steps, title }: Figure): string => {
  const [from] = steps
  const to = steps.at(-1)
  if (from === undefined || to === undefined) return `${title}: no values yet`
  const ranges = curves.map(({ label, values }) => {
    const known = values.filter((value) => value !== null)
    const [first] = known
    const last = known.at(-1)
    return first === undefined || last === undefined
      ? `${label}: no values`
      : `${label} from ${show(first)} to ${show(last)}, lowest ${show(Math.min(...known))}, highest ${show(Math.max(...known))}`
  })
  const ends =
    horizontal === undefined
      ? `step ${from} to ${to}`
      : `${horizontal.title} ${horizontal.format(from)} to ${horizontal.format(to)}`
  return `${title} from ${ends}. ${ranges.join(". ")}.`
}
