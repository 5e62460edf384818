/** Draws figures as elements: charts of the page, figures of reports, and files. */
import { createElement as h, Fragment, type CSSProperties, type ReactElement } from "react"
import { axis as axisText } from "@inspo/report"
import { ends, logEnds, logTicks, ticks } from "./Axis.ts"
import { type Stretch, within } from "./Chart.ts"
import { instructionStyle } from "./Colour.ts"
import type { Figure, Line } from "./Figure.ts"

/** The size of a drawing; `scale` is how large its text is, as a factor of 16 pixels. */
export interface Frame {
  readonly width: number
  readonly height: number
  readonly scale: number
}

/** Where a figure has its axes and its values. */
export interface Plot {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
  readonly scale: number
  /** The ends of the horizontal axis. */
  readonly domain: Stretch
  readonly x: (position: number) => number
  readonly y: (value: number) => number
  /** Values and positions with a label. */
  readonly levels: ReadonlyArray<number>
  readonly positions: ReadonlyArray<number>
}

/** What a page adds to a drawing. */
export interface Inking {
  /** The id of the area outside which no curve is drawn. */
  readonly clip?: string
  readonly style?: (line: Line) => CSSProperties
  /** The instruction that is emphasized, and what is called with the one under the pointer. */
  readonly picked?: string | null
  readonly onPick?: ((instruction: string | null) => void) | undefined
}

/** The places of a figure in a frame, of all of it or of a stretch. */
export const plotOf = (figure: Figure, { height, scale, width }: Frame, stretch: Stretch | null = null): Plot => {
  const { format = axisText, horizontal, isLog = false, isStacked = false, steps } = figure
  const values = within(figure, stretch).curves.flatMap(({ band = [], values }) =>
    [...values, ...band.flatMap((ends) => ends ?? [])].filter((value) => value !== null)
  )
  const extremes: [number, number] = [Math.min(...values), Math.max(...values)]
  const [low, high] = isStacked
    ? [0, 1]
    : values.length === 0
      ? [isLog ? 0.1 : 0, 1]
      : isLog
        ? logEnds(...extremes)
        : ends(...extremes, figure)
  const [first, last] = [steps[0] ?? 0, steps.at(-1) ?? 1]
  const room = isStacked ? 0.5 : first === last ? 1 : 0
  const domain = stretch ?? ([first - room, last + room] as const)
  const [top, bottom] = [14 * scale, height - 24 * scale]
  const levels = isLog ? logTicks(low, high) : ticks(low, high, Math.max(2, Math.floor((bottom - top) / (32 * scale))))
  const left = Math.max(40, 14 + 6.4 * Math.max(...levels.map((value) => format(value).length))) * scale
  const right = width - 10 * scale
  const along = isLog ? Math.log10 : (value: number) => value
  return {
    left,
    right,
    top,
    bottom,
    scale,
    domain,
    levels,
    positions: ticks(...domain, Math.max(2, Math.floor((right - left) / (60 * scale)))).filter(
      (position) => horizontal !== undefined || Number.isInteger(position)
    ),
    x: (position) => round(left + ((right - left) * (position - domain[0])) / (domain[1] - domain[0])),
    y: (value) => round(bottom - ((bottom - top) * (along(value) - along(low))) / (along(high) - along(low)))
  }
}

/** The axes, the decisions and the curves of a figure. */
export const contents = (figure: Figure, plot: Plot, inking: Inking = {}): ReactElement => {
  const { curves, format = axisText, horizontal, isStacked = false } = figure
  const { bottom, left, levels, positions, right, scale, x, y } = plot
  const shapes = isStacked
    ? ribbons(figure, plot)
    : curves.map((line) => ({ line, shape: [band(line, figure, plot), curve(line, figure, plot)] }))
  const grid = levels.map((value) => {
    const className = value === 0 && y(0) < bottom ? "grid zero" : "grid"
    const line = h("line", { className, x1: left, x2: right, y1: y(value), y2: y(value) })
    const text = h("text", { x: left - 7 * scale, y: y(value) + 4 * scale, textAnchor: "end" }, format(value))
    return h("g", { key: value }, line, text)
  })
  const ticks = positions.map((position) => {
    const place = { key: `at ${position}`, x: x(position), y: bottom + 18 * scale, textAnchor: "middle" }
    return h("text", place, (horizontal?.format ?? String)(position))
  })
  const marks = decisions(figure, plot)
  const clipPath = inking.clip === undefined ? undefined : `url(#${inking.clip})`
  const drawn = shapes.map(({ line, shape }) => h(Fragment, { key: line.label }, pickable(line, shape, inking)))
  return h(Fragment, null, grid, ticks, isStacked ? null : marks, h("g", { clipPath }, drawn), isStacked ? marks : null)
}

/** A shape in the colour of its curve, dimmed while that of another instruction is picked. */
const pickable = (
  line: Line,
  shape: ReadonlyArray<ReactElement | null>,
  { onPick, picked = null, style }: Inking
): ReactElement => {
  const { instruction, label } = line
  const isPicked = picked !== null && picked === instruction
  return h(
    "g",
    {
      style: style?.(line),
      className: picked === null || instruction === undefined ? undefined : isPicked ? "picked" : "dimmed",
      ...(onPick === undefined || instruction === undefined
        ? {}
        : { onPointerEnter: () => onPick(instruction), onPointerLeave: () => onPick(null) })
    },
    instruction === undefined ? null : h("title", null, label),
    ...shape
  )
}

const curve = ({ dash = [], tone, values }: Line, { steps }: Figure, { scale, x, y }: Plot): ReactElement => {
  const points = values.flatMap((value, index) => (value === null ? [] : [[x(steps[index] ?? 0), y(value)] as const]))
  const [[cx, cy] = [0, 0]] = points
  return points.length === 1
    ? h("circle", { className: `curve ${tone}`, cx, cy, r: 3 * scale })
    : h("polyline", {
        className: `curve ${tone}`,
        strokeDasharray: dash.length === 0 ? undefined : dash.join(" "),
        points: points.join(" ")
      })
}

const band = ({ band, tone }: Line, { steps }: Figure, { scale, x, y }: Plot): ReactElement | null => {
  const known = band?.flatMap((ends, index) => (ends === null ? [] : [{ at: x(steps[index] ?? 0), ends }])) ?? []
  const [only] = known
  if (only === undefined) return null
  // One position is as wide as a dot.
  const places = known.length > 1 ? known : [-4, 4].map((side) => ({ ...only, at: only.at + side * scale }))
  const upper = places.map(({ at, ends }) => `${at},${y(ends[1])}`)
  const lower = places.map(({ at, ends }) => `${at},${y(ends[0])}`)
  return h("polygon", { className: `band ${tone}`, points: [...upper, ...lower.toReversed()].join(" ") })
}

/** An area for each curve above those before it: level over most of a step, with a slope to the next one unless a curve begins or ends there. */
const ribbons = ({ curves, steps }: Figure, { x, y }: Plot) => {
  const base = steps.map(() => 0)
  const isEdge = (index: number) =>
    curves.some(({ values }) => ((values[index] ?? null) === null) !== ((values[index + 1] ?? null) === null))
  const halves = steps.map((_, index) => [isEdge(index - 1) ? 0.5 : 0.3, isEdge(index) ? 0.5 : 0.3] as const)
  return curves.map((line) => {
    const levels = line.values.flatMap((value, index) => {
      const low = base[index] ?? 0
      if (value === null) return []
      base[index] = low + value
      const [before = 0.5, after = 0.5] = halves[index] ?? []
      const step = steps[index] ?? 0
      return [{ from: x(step - before), to: x(step + after), low: y(low), high: y(low + value) }]
    })
    const upper = levels.flatMap(({ from, high, to }) => [`${from},${high}`, `${to},${high}`])
    const lower = levels.flatMap(({ from, low, to }) => [`${from},${low}`, `${to},${low}`])
    const hue = line.instruction === undefined ? {} : { style: instructionStyle(line.instruction) }
    const points = [...upper, ...lower.toReversed()].join(" ")
    return { line, shape: [h("polygon", { ...hue, className: `ribbon ${line.tone}`, points })] }
  })
}

/** Lines at prunings and evolutions with signs above; without the lines of prunings where there are many. */
const decisions = ({ isStacked, marks = [], steps }: Figure, { bottom, domain, left, right, scale, top, x }: Plot) => {
  const [first = 0] = steps
  const shown = marks.filter(({ step }) => step >= Math.max(first, domain[0]) && step <= domain[1])
  const isDense = (right - left) / Math.max(1, shown.length) < 14 * scale
  const size = (isDense ? 2.5 : 4.5) * scale
  return shown.map(({ kind, step }, index) => {
    // Between the areas of two steps.
    const at = x(step + (isStacked === true ? 0.5 : 0))
    return h(
      "g",
      { key: `mark ${index}`, className: `mark ${kind}` },
      isDense && kind !== "evolve" ? null : h("line", { x1: at, x2: at, y1: top, y2: bottom }),
      kind === "evolve"
        ? h("circle", { cx: at, cy: top - size, r: size })
        : kind === "prune"
          ? h("path", { d: `M${at - size},${top - 2 * size}h${2 * size}L${at},${top}Z` })
          : null
    )
  })
}

/** The size of a figure in a report and in a file. */
const usual: Frame = { width: 460, height: 190, scale: 1 }
/** Characters that fit into one line. */
const mostBesideTitle = 70
const lineHeight = 14

/** The figure with its title and the names of its curves, for a page with the report's {@link style}. */
export const captioned = (figure: Figure, width: number = usual.width): ReactElement => {
  const { curves, format = axisText, named, steps, title } = figure
  const keys = curves.length < 2 ? [] : legend(figure, steps.length - 1)
  const names = keys.map(({ instruction, label, tone, value }) => {
    const look =
      instruction === undefined
        ? { className: `key ${tone}` }
        : { className: "key ribbon", style: instructionStyle(instruction) }
    return h("span", { key: label, ...look }, named === undefined ? label : `${label} ${format(value ?? 0)}`)
  })
  const className = width === usual.width ? undefined : "wide"
  const caption = h("figcaption", null, h("b", null, title), names)
  return h("figure", { key: title, className }, caption, drawing(figure, undefined, width))
}

/** The curves that a legend names, with their values at a position; those with the highest ones if only some are named. */
export const legend = (
  { curves, named }: Figure,
  index: number
): ReadonlyArray<Line & { readonly value: number | null }> => {
  const all = curves.map((line) => ({ ...line, value: line.values[index] ?? null }))
  return named === undefined
    ? all
    : all
        .filter(({ value }) => value !== null)
        .toSorted((one, other) => (other.value ?? 0) - (one.value ?? 0))
        .slice(0, named)
}

/** The figure alone; with the names of its curves and the titles of its axes, for a file of its own. */
export const drawing = (
  figure: Figure,
  alone?: { readonly xmlns: string; readonly style: string },
  width: number = usual.width
): ReactElement => {
  const { curves, horizontal, title, vertical } = figure
  const plot = plotOf(figure, { ...usual, width })
  const above = alone === undefined ? 0 : headingHeight(title, curves)
  const beside = alone === undefined || vertical === undefined ? 0 : lineHeight + 4
  return h(
    "svg",
    {
      xmlns: alone?.xmlns,
      viewBox: `${-beside} ${-above} ${width + beside} ${usual.height + above + beside}`,
      role: "img",
      "aria-label": title
    },
    alone === undefined ? null : heading(title, curves, alone.style),
    beside === 0 ? null : axisTitles(horizontal?.title ?? "Step", vertical ?? "", plot),
    contents(figure, plot)
  )
}

const axisTitles = (horizontal: string, vertical: string, { bottom, left, right, top }: Plot): ReactElement =>
  h(
    Fragment,
    null,
    h("text", { x: (left + right) / 2, y: usual.height + lineHeight - 4, textAnchor: "middle" }, horizontal),
    h(
      "text",
      { transform: `rotate(-90) translate(${-(top + bottom) / 2} -4)`, textAnchor: "middle" },
      // A title that fits the height of the axis.
      vertical.length <= mostAlong ? vertical : `${vertical.slice(0, mostAlong - 1)}…`
    )
  )

const mostAlong = 28

const hasDash = (curves: Figure["curves"]): boolean => curves.some(({ dash = [] }) => dash.length > 0)

/** Whether the names are below the title, each in a line. Dashes are only shown there. */
const isListed = (title: string, curves: Figure["curves"]): boolean =>
  hasDash(curves) || [title, ...curves.map(({ label }) => label)].join("  ").length > mostBesideTitle

const headingHeight = (title: string, curves: Figure["curves"]): number =>
  18 + (isListed(title, curves) ? lineHeight * curves.length : 0)

const heading = (title: string, curves: Figure["curves"], style: string): ReactElement => {
  const first = 14 - headingHeight(title, curves)
  return h(
    Fragment,
    null,
    h("style", { dangerouslySetInnerHTML: { __html: style } }),
    h("text", { x: 4, y: first, className: "title" }, title),
    isListed(title, curves)
      ? curves.map(({ dash, label, tone }, index) => {
          const y = first + lineHeight * (index + 1)
          return h(
            Fragment,
            { key: label },
            hasDash(curves)
              ? h("polyline", {
                  className: `curve ${tone}`,
                  strokeDasharray: dash?.join(" ") || undefined,
                  points: `4,${y - 4} 34,${y - 4}`
                })
              : null,
            h("text", { x: hasDash(curves) ? 40 : 4, y, className: `name ${tone}` }, label)
          )
        })
      : h(
          "text",
          { x: usual.width - 10, y: first, textAnchor: "end" },
          curves.map(({ label, tone }, index) =>
            h("tspan", { key: label, className: `name ${tone}`, dx: index === 0 ? 0 : 12 }, label)
          )
        )
  )
}

/** A share with its interval on a scale from 0 to 1. */
export const interval = (mean: number, [low, high]: readonly [number, number]): ReactElement =>
  h(
    "svg",
    { className: "interval", viewBox: "0 0 200 14", "aria-hidden": true },
    h("line", { className: "grid", x1: 0, x2: 200, y1: 7, y2: 7 }),
    h("rect", { className: "range", x: 200 * low, width: Math.max(1, 200 * (high - low)), y: 4, height: 6, rx: 3 }),
    h("rect", { className: "mean", x: 200 * mean - 1.5, width: 3, y: 0, height: 14, rx: 1 })
  )

const round = (value: number): number => Math.round(value * 10) / 10
