import {
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState
} from "react"
import { axis as axisText } from "@inspo/report"
import { type Stretch, valueAt } from "../../src/Chart.ts"
import { colourOf } from "../../src/Curves.ts"
import { contents, legend, type Plot, plotOf } from "../../src/Drawing.ts"
import type { Figure, Line } from "../../src/Figure.ts"
import { CurveSwatch, InstructionName } from "../part/Parts.tsx"
import { makeStore } from "../Store.ts"

export interface ChartProps {
  readonly figure: Figure
  readonly height?: number
  /** The stretch of the horizontal axis that is shown; all of it when absent. */
  readonly zoom?: Stretch | null
  /** Called with the stretch that the user selects, or null to show everything. */
  readonly onZoom?: ((zoom: Stretch | null) => void) | undefined
  /** The instruction whose curve is emphasized, and what is called with the one under the pointer. */
  readonly picked?: string | null
  readonly onPick?: ((instruction: string | null) => void) | undefined
  /** Beside the title. */
  readonly menu?: ReactNode
}

/** The position under the pointer: all charts of a page show their values there. */
const pointed = makeStore<number | null>(null)

export const Chart = ({ figure, height = 190, menu, onPick, onZoom, picked = null, zoom = null }: ChartProps) => {
  const { curves, isStacked = false, steps } = figure
  const [host, width, scale] = useWidth()
  const [drag, setDrag] = useState<Drag | null>(null)
  const frame = { width, height: height * scale, scale }
  const stretch = drag?.isPan === true ? panned(drag) : zoom
  const plot = useMemo(() => plotOf(figure, frame, stretch), [figure, width, height, scale, stretch?.[0], stretch?.[1]])
  const clip = useId()
  // Only the cursor is drawn again while the pointer moves.
  const drawn = useMemo(
    () => contents(figure, plot, { clip, picked, onPick, ...(isStacked ? {} : { style: ink }) }),
    [figure, plot, picked]
  )
  const at = nearest(steps, pointed.use(), plot.domain)
  const pointer = usePointer({ drag, onZoom, plot, setDrag })
  const { bottom, left, right, top } = plot
  const area = { x: left, y: top, width: Math.max(0, right - left), height: bottom - top }
  return (
    <figure className="chart">
      <figcaption className={`row ${curves.length > 2 ? "many" : ""}`}>
        <span className="chart-head">
          <span className="chart-title">{figure.title}</span>
          {menu}
        </span>
        <Values figure={figure} pointed={at} zoom={zoom} />
      </figcaption>
      {figure.note !== undefined && <p className="muted small">{figure.note}</p>}
      <div ref={host} role="img" aria-label={describe(figure)} className="chart-canvas">
        {width > 0 && (
          <svg width={width} height={frame.height} className="plot" {...pointer}>
            <clipPath id={clip}>
              <rect {...area} />
            </clipPath>
            <rect {...area} className="plot-area" />
            {drawn}
            {at !== null && <Cursor figure={figure} plot={plot} at={at} />}
            {drag !== null && !drag.isPan && (
              <rect
                {...area}
                className="selection"
                x={Math.min(drag.from, drag.to)}
                width={Math.abs(drag.to - drag.from)}
              />
            )}
          </svg>
        )}
      </div>
    </figure>
  )
}

const ink = (line: Line) => ({ color: colourOf(line) })

/** The index of the position nearest to the pointer; null if that is not on the axis. */
const nearest = (steps: ReadonlyArray<number>, position: number | null, [first, last]: Stretch): number | null => {
  if (position === null || position < first || position > last || steps.length === 0) return null
  const after = steps.findIndex((step) => step >= position)
  if (after < 0) return steps.length - 1
  return after > 0 && position - (steps[after - 1] ?? 0) < (steps[after] ?? 0) - position ? after - 1 : after
}

interface CursorProps {
  readonly figure: Figure
  readonly plot: Plot
  readonly at: number
}

const Cursor = ({ at, figure: { curves, isStacked = false, steps }, plot: { bottom, top, x, y } }: CursorProps) => {
  const place = x(steps[at] ?? 0)
  return (
    <g className="cursor">
      <line x1={place} x2={place} y1={top} y2={bottom} />
      {!isStacked &&
        curves.map((line) => {
          const value = valueAt(line.values, at, false)
          return value === null ? null : <circle key={line.label} style={ink(line)} cx={place} cy={y(value)} r={3.5} />
        })}
    </g>
  )
}

/** What the pointer does while its button is down: where it was and is, and what was shown when it began. */
interface Drag {
  readonly from: number
  readonly to: number
  readonly isPan: boolean
  readonly plot: Plot
}

const positionOf = ({ domain, left, right }: Plot, place: number): number =>
  domain[0] + ((domain[1] - domain[0]) * (place - left)) / Math.max(1, right - left)

/** The stretch that a drag moves under the pointer. */
const panned = ({ from, plot, to }: Drag): Stretch => {
  const by = positionOf(plot, from) - positionOf(plot, to)
  return [plot.domain[0] + by, plot.domain[1] + by]
}

/** Pixels that the pointer may move in a click. */
const mostInClick = 4

/** Selects or moves a stretch by dragging, and shows everything on a double click. */
const usePointer = ({
  drag,
  onZoom,
  plot,
  setDrag
}: Pick<ChartProps, "onZoom"> & {
  readonly drag: Drag | null
  readonly setDrag: (drag: Drag | null) => void
  readonly plot: Plot
}) => {
  const placeOf = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>) =>
    Math.min(plot.right, Math.max(plot.left, clientX - currentTarget.getBoundingClientRect().left))
  return {
    onPointerDown: (event: PointerEvent<SVGSVGElement>) => {
      if (event.button !== 0 || event.pointerType !== "mouse" || onZoom === undefined) return
      event.preventDefault()
      event.currentTarget.setPointerCapture(event.pointerId)
      setDrag({ from: placeOf(event), to: placeOf(event), isPan: event.shiftKey, plot })
    },
    onPointerMove: (event: PointerEvent<SVGSVGElement>) => {
      const to = placeOf(event)
      pointed.set(positionOf(plot, to))
      if (drag !== null) setDrag({ ...drag, to })
    },
    onPointerUp: () => {
      setDrag(null)
      if (drag === null || Math.abs(drag.to - drag.from) < mostInClick) return
      const [one, other] = [positionOf(drag.plot, drag.from), positionOf(drag.plot, drag.to)]
      onZoom?.(drag.isPan ? panned(drag) : [Math.min(one, other), Math.max(one, other)])
    },
    onPointerCancel: () => setDrag(null),
    onPointerLeave: () => pointed.set(null),
    onDoubleClick: () => onZoom?.(null)
  }
}

interface ValuesProps {
  readonly figure: Figure
  readonly pointed: number | null
  readonly zoom: Stretch | null
}

/** The values at the position under the pointer, or else the last ones that are shown. */
const Values = ({ figure, pointed, zoom }: ValuesProps) => {
  const { curves, format = axisText, horizontal, show = format, steps } = figure
  const at = pointed ?? steps.findLastIndex((step) => zoom === null || step <= zoom[1])
  const position = steps[at]
  const isLast = pointed === null && curves.some(({ values }) => (values[at] ?? null) === null)
  return (
    <span className="chart-values row tight num">
      {position !== undefined && (
        <span className="muted">
          {isLast && figure.named === undefined
            ? "last"
            : horizontal === undefined
              ? `step ${position}`
              : `${horizontal.title}: ${horizontal.format(position)}`}
        </span>
      )}
      {legend(figure, at).map((curve) => {
        const { instruction, label, values } = curve
        const value = valueAt(values, at, pointed === null)
        return (
          <span key={label} className="inline">
            {instruction !== undefined ? (
              <InstructionName id={instruction} />
            ) : (
              curves.length > 1 && (
                <>
                  <CurveSwatch {...curve} />
                  <span className="muted">{label} </span>
                </>
              )
            )}
            <b>{value === null ? "–" : show(value)}</b>
          </span>
        )
      })}
    </span>
  )
}

/** The chart in words, for screen readers. */
const describe = (figure: Figure): string => {
  const { curves, format = axisText, horizontal, show = format, steps, title } = figure
  const [from] = steps
  const to = steps.at(-1)
  if (from === undefined || to === undefined) return `${title}: no values yet`
  const listed = legend(figure, steps.length - 1)
  const ranges = listed.map(({ label, values }) => {
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
  const others = listed.length < curves.length ? `, the highest ${listed.length} of ${curves.length}` : ""
  return `${title} from ${ends}${others}. ${ranges.join(". ")}.`
}

/** The present width of an element in pixels, and the size of its text as a factor of 16 pixels. */
export const useWidth = (): readonly [ref: RefObject<HTMLDivElement | null>, width: number, scale: number] => {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = ref.current
    if (element === null) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.round(entry.contentRect.width))
    })
    setWidth(Math.round(element.getBoundingClientRect().width))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [ref, width, Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16]
}
